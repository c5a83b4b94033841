/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes temporary folders, "gyre-work-XXXXXX" in TMPDIR, each for one piece of work. A folder is locked (flock) while the
 * process that made it lives. So any process can tell the folders of dead processes from those in use, even in another
 * container. A folder belongs to one thread at a time.
 */
#ifndef GYRE_CORE_BASE_TEMPORARY_H
#define GYRE_CORE_BASE_TEMPORARY_H

#include "gyre/status.h"

enum { GYRE_TEMPORARY_MAX = 4000 };

struct gyre_temporary {
    char path[GYRE_TEMPORARY_MAX]; /* absolute; "": there is none */
    int lock;
};

/** Makes a folder in TMPDIR, when that is an absolute path, else in `parent`. EXHAUSTED when the disk is full or there is
 * no descriptor, FAILED otherwise. */
gyre_status gyre_temporary_make(struct gyre_temporary *temporary, const char *parent);
/** Removes the folder and all files in it. Files are removed even when no descriptor is free. Accepts a folder that was never
 * made (all zero). */
void gyre_temporary_remove(struct gyre_temporary *temporary);

/** Removes any folder and all that it contains; -1 with errno after a failure. */
int gyre_temporary_delete(const char *path);

/** Calls `tell` with each folder of this user that no living process uses: in TMPDIR, else in /tmp and /var/tmp. */
void gyre_temporary_each_left(void (*tell)(void *context, const char *path), void *context);
/** Removes the folders that dead processes left, as far as possible. Only the first call in a process does so. Called by code
 * that makes temporary folders. Any thread. */
void gyre_temporary_sweep(void);

#endif
