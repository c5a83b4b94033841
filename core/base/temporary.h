/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary folders of one piece of work, "gyre-work-XXXXXX" in TMPDIR. While the process that made one lives, the
 * folder is locked (flock), so that what a dead process left can be told from what is in use, also by processes
 * that do not see each other's numbers. Threads: a folder belongs to one at a time.
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
/** Removes it with all that it holds, for files without a free descriptor. One that was never made (all zero) may be
 * given. */
void gyre_temporary_remove(struct gyre_temporary *temporary);

/** Removes any folder with all that it holds; -1 with errno when it cannot. */
int gyre_temporary_delete(const char *path);

/** Calls `tell` with each folder of this user that no living process uses: in TMPDIR, else in /tmp and /var/tmp. */
void gyre_temporary_each_left(void (*tell)(void *context, const char *path), void *context);
/** Removes these, as far as it can, the first time that a process calls it: for who makes folders of his own there. Any
 * thread. */
void gyre_temporary_sweep(void);

#endif
