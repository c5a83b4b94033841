/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a backend's shared object (plugin) and loads it into the process (loader.c).
 *
 * The file is read first. A file that is not ELF, is for another machine, has no plugin symbol or another ABI is
 * refused before any of its code runs. Then the file is loaded (RTLD_NOW | RTLD_LOCAL), and the rest of its table is
 * checked: name, ops table, required slots. No operation of the plugin is called here. An accepted plugin stays
 * loaded until the process ends, because drivers leave threads and exit handlers behind.
 */
#ifndef GYRE_CORE_LOADER_LOADER_H
#define GYRE_CORE_LOADER_LOADER_H

#include <stdbool.h>

#include "gyre/backend.h"

/** A loaded plugin. A file has one, however often it is loaded. It lives as long as the process. */
struct gyre_plugin;

/**
 * Checks and loads the plugin in the file `path` (absolute). Threads: any. Blocks: for the loading. NOT_FOUND when
 * there is no such file. INCOMPATIBLE when the file is no plugin for this machine and ABI. UNAVAILABLE with the
 * dynamic loader's sentence when the file cannot be loaded (it needs a library or symbol that is missing). EXHAUSTED
 * when this process has no memory or no descriptor for it. *out is NULL after a failure.
 */
gyre_status gyre_plugin_load(const char *path, struct gyre_plugin **out);

const gyre_backend_plugin *gyre_plugin_table(const struct gyre_plugin *plugin);

/** Locks the plugin, for operations whose contract says "threads: one per plugin". */
void gyre_plugin_lock(struct gyre_plugin *plugin);
void gyre_plugin_unlock(struct gyre_plugin *plugin);

/**
 * Reads the ABI version of the plugin in a file without loading the file. False when the file does not show it.
 */
bool gyre_plugin_read_abi(const char *path, uint16_t *abi_major, uint16_t *abi_minor);

/**
 * Whether a core of ABI core_major.core_minor can run a plugin of ABI major.minor. OK, or INCOMPATIBLE with a
 * sentence that names both versions and says which side to update.
 */
gyre_status gyre_plugin_judge_version(const char *path, uint16_t major, uint16_t minor, uint16_t core_major,
                                      uint16_t core_minor);

/**
 * Implements the service library_open of gyre_host (contracts of library_* in backend.h). UNAVAILABLE with the dynamic
 * loader's sentence. EXHAUSTED when this sentence says that the process has no memory or no descriptor.
 */
gyre_status gyre_library_open(const char *path, void **out);
/** Implements library_symbol. NOT_FOUND when the library has no such symbol. */
gyre_status gyre_library_symbol(void *library, const char *name, void **out);
/** Implements library_close. Accepts NULL. */
void gyre_library_close(void *library);

#endif
