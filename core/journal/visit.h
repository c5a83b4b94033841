/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A journal that no program has open, as a file of a path: read for a tool, and put back changed. Threads: one at a time.
 */
#ifndef GYRE_CORE_JOURNAL_VISIT_H
#define GYRE_CORE_JOURNAL_VISIT_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/status.h"

struct gyre_journal_visit {
    char *path;
    int lock; /* -1: there is none to take */
    unsigned char *data;
    size_t size;
};

/**
 * Keeps programs from opening the journal until the end of the visit, and reads it. `makes_lock`: also where none ever had it
 * open there; else nothing is made. AGAIN when a program has it, NOT_FOUND, INVALID when it is no regular file,
 * UNAVAILABLE, EXHAUSTED. *out is to be ended in any case.
 */
gyre_status gyre_journal_visit_begin(const char *path, bool makes_lock, struct gyre_journal_visit *out);
void gyre_journal_visit_end(struct gyre_journal_visit *visit);

/** Writes a file that must not exist, and has it on the disk. INVALID when it does; nothing is left after a failure. */
gyre_status gyre_journal_write_file(const char *path, const void *bytes, size_t size);
/** Puts those bytes in the journal's place; what was there is kept as PATH.before, which must not exist. */
gyre_status gyre_journal_visit_replace(const struct gyre_journal_visit *visit, const void *bytes,
                                       size_t size);

#endif
