/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers verdicts (whether a backend can start) on disk: one small file in `verdicts/` of the cache folder for
 * each combination of plugin, parameters and limits of the process (memory.c).
 *
 * A verdict holds as long as nothing that it depends on has changed: the plugin's file, its parameters and the files
 * that the parameters name, the probing helper, the boot, the cache of the dynamic loader, LD_LIBRARY_PATH, and all
 * that the plugin's probe named in gyre_probe_info.watch. A verdict that the backend cannot start depends also on the
 * first 64 folders of LD_LIBRARY_PATH: it ends when a file appears there or vanishes. A file that is damaged,
 * unreadable or of another version counts as absent. A folder that cannot be written is no error. Files are replaced
 * whole. Threads and processes: any.
 */
#ifndef GYRE_CORE_REGISTRY_MEMORY_H
#define GYRE_CORE_REGISTRY_MEMORY_H

#include "core/registry/verdict.h"
#include "gyre/backend.h"

/** Reads the remembered verdict. False: there is none that holds. `folder`: the cache folder; "" remembers nothing. */
bool gyre_memory_recall(const char *folder, const char *library, const gyre_parameter *parameters,
                        size_t parameter_count, struct gyre_verdict *verdict);
void gyre_memory_keep(const char *folder, const char *library, const gyre_parameter *parameters,
                      size_t parameter_count, const struct gyre_verdict *verdict);

#endif
