/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets a tool read and replace the file of a journal that no program has open (visit.c). Threads: one at a time.
 */
#ifndef GYRE_CORE_JOURNAL_VISIT_H
#define GYRE_CORE_JOURNAL_VISIT_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/status.h"

struct gyre_journal_visit {
    char *path;
    int lock; /* the lock's descriptor; -1: the journal has no lock file */
    unsigned char *data;
    size_t size;
};

/**
 * Keeps programs from opening the journal until the visit ends, and reads the journal. `makes_lock`: makes the lock
 * file where there is none (no program ever opened the journal there); else no file is made. AGAIN when a program has
 * the journal open, NOT_FOUND, INVALID when it is no regular file, UNAVAILABLE, EXHAUSTED. The caller ends *out in
 * any case.
 */
gyre_status gyre_journal_visit_begin(const char *path, bool makes_lock, struct gyre_journal_visit *out);
void gyre_journal_visit_end(struct gyre_journal_visit *visit);

/** Writes a new file and forces it to the disk. INVALID when the file exists. After a failure no file is left. */
gyre_status gyre_journal_write_file(const char *path, const void *bytes, size_t size);
/** Replaces the journal by these bytes. The old journal is kept as PATH.before, which must not exist. */
gyre_status gyre_journal_visit_replace(const struct gyre_journal_visit *visit, const void *bytes,
                                       size_t size);

#endif
