/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a compiler read, in an entry's note: recorded, and compared later. */
#ifndef GYRE_CORE_CACHE_DEPENDENCIES_H
#define GYRE_CORE_CACHE_DEPENDENCIES_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "core/cache/artifact.h"

/**
 * Writes a note line "file SIZE MTIME CTIME INODE HASH PATH" for each path in `list_path`, except `unit`.
 * False when one cannot be read or changed after `started`: what was compiled is then unknown.
 */
bool gyre_dependencies_record(const char *list_path, const char *unit, const struct timespec *started,
                              FILE *note);

/** Whether all files of the note are as they were. Unchanged times and sizes spare reading them. */
bool gyre_dependencies_unchanged(const struct gyre_artifact *artifact);

#endif
