/* SPDX-License-Identifier: Apache-2.0 */
/* Records the files that a compiler read in the note of a cache entry, and compares them later (dependencies.c). */
#ifndef GYRE_CORE_CACHE_DEPENDENCIES_H
#define GYRE_CORE_CACHE_DEPENDENCIES_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "core/cache/artifact.h"

/**
 * Writes a note line "file SIZE MTIME CTIME INODE HASH PATH" for each path in the file `list_path`, except `unit`.
 * False when a file cannot be read or changed after `started`: then nobody knows which content was compiled.
 */
bool gyre_dependencies_record(const char *list_path, const char *unit, const struct timespec *started,
                              FILE *note);

/** Whether all files of the note are unchanged. A file whose times and size are unchanged is not read. */
bool gyre_dependencies_unchanged(const struct gyre_artifact *artifact);

#endif
