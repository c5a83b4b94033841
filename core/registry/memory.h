/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts remembered on disk: one small file for each plugin, set of parameters and limits of the process, in
 * `verdicts/` of the cache folder.
 *
 * A verdict holds as long as nothing it depends on changed: the plugin's file, its parameters and the files that
 * these name, the probing helper, the boot, the cache of the dynamic loader, LD_LIBRARY_PATH, and what the
 * plugin's probe named in gyre_probe_info.watch; one of "no" also as long as nothing appeared in the folders of
 * LD_LIBRARY_PATH or left them, its first 64. Files that are damaged, of another version or unreadable count as absent; a folder
 * that cannot be written is no error. Files are replaced whole. Threads and processes: any.
 */
#ifndef GYRE_CORE_REGISTRY_MEMORY_H
#define GYRE_CORE_REGISTRY_MEMORY_H

#include "core/registry/verdict.h"
#include "gyre/backend.h"

/** `folder`: the cache folder; "" remembers nothing. */
bool gyre_memory_recall(const char *folder, const char *library, const gyre_parameter *parameters,
                        size_t parameter_count, struct gyre_verdict *verdict);
void gyre_memory_keep(const char *folder, const char *library, const gyre_parameter *parameters,
                      size_t parameter_count, const struct gyre_verdict *verdict);

#endif
