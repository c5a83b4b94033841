/* SPDX-License-Identifier: Apache-2.0 */
/* The disk of a journal: one file in a folder, locked against other processes. Threads: one at a time. */
#ifndef GYRE_CORE_JOURNAL_FILE_H
#define GYRE_CORE_JOURNAL_FILE_H

#include "core/journal/journal.h"

struct gyre_journal_file {
    char *path, *new_path;
    int folder, lock; /* descriptors */
    int file;         /* -1: there is none yet */
    int old;          /* while a new one is written: the one before */
    uint64_t size, old_size;
    unsigned char tail[GYRE_MARK_SIZE], old_tail[GYRE_MARK_SIZE]; /* what stands behind that */
    size_t tail_size, old_tail_size;
    bool synced;  /* whether replacing waits for the disk */
    bool renamed; /* ... and the folder was not synced since */
    bool cut;     /* somebody else made it shorter, and what was written since stands behind a hole */
};

/**
 * Opens `folder`/`name`.journal, which need not exist. `synced`: a new file is on the disk before it takes
 * the place of the old one. INVALID when another process has it, UNAVAILABLE when the folder cannot be used.
 */
gyre_status gyre_journal_file_open(const char *folder, const char *name, bool synced,
                                   struct gyre_journal_file *out);
/** Accepts a zeroed one. */
void gyre_journal_file_close(struct gyre_journal_file *file);
/** All bytes of the file; *data is free()d by the caller. NOT_FOUND when there is none. */
gyre_status gyre_journal_file_read(const struct gyre_journal_file *file, unsigned char **data, size_t *size);

/** Its context is the struct gyre_journal_file. */
extern const struct gyre_journal_disk gyre_journal_file_disk;

#endif
