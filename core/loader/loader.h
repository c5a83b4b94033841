/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings a backend's shared object into the process, after judging it.
 *
 * The file is read first: not ELF, another machine, no plugin symbol, another ABI are refused before any of
 * its code runs. Then it is loaded (RTLD_NOW | RTLD_LOCAL) and the rest of its table is judged: name, ops
 * table, required slots. No operation is called here. A plugin that was accepted stays loaded until the
 * process ends: drivers leave threads and exit handlers behind.
 */
#ifndef GYRE_CORE_LOADER_LOADER_H
#define GYRE_CORE_LOADER_LOADER_H

#include <stdbool.h>

#include "gyre/backend.h"

/** A loaded plugin. There is one per file, however often it is loaded; it lives as long as the process. */
struct gyre_plugin;

/**
 * Loads and judges. `path` is absolute. Threads: any. Blocks: for the loading.
 * NOT_FOUND when there is no such file, INCOMPATIBLE when it is no plugin of this machine and ABI,
 * UNAVAILABLE with the dynamic loader's words when it cannot be loaded (a library or symbol it needs is
 * missing), EXHAUSTED when this process has no memory or no descriptor for it. *out is NULL after a failure.
 */
gyre_status gyre_plugin_load(const char *path, struct gyre_plugin **out);

const gyre_backend_plugin *gyre_plugin_table(const struct gyre_plugin *plugin);

/** For operations whose contract says "threads: one per plugin". */
void gyre_plugin_lock(struct gyre_plugin *plugin);
void gyre_plugin_unlock(struct gyre_plugin *plugin);

/**
 * Reads the ABI version of the plugin in a file without loading it. False when it cannot be told that way.
 */
bool gyre_plugin_read_abi(const char *path, uint16_t *abi_major, uint16_t *abi_minor);

/**
 * The rule of versions: can a core of ABI core_major.core_minor run a plugin of ABI major.minor? OK, or
 * INCOMPATIBLE with a sentence that names both and says which side to update.
 */
gyre_status gyre_plugin_judge_version(const char *path, uint16_t major, uint16_t minor, uint16_t core_major,
                                      uint16_t core_minor);

/** The services library_* of gyre_host; contracts there. UNAVAILABLE with the loader's words on failure,
 * EXHAUSTED when they say that this process has no memory or no descriptor for it. */
gyre_status gyre_library_open(const char *path, void **out);
/** NOT_FOUND when the library has no such symbol. */
gyre_status gyre_library_symbol(void *library, const char *name, void **out);
/** Accepts NULL. */
void gyre_library_close(void *library);

#endif
