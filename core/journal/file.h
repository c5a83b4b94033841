/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk of a journal (struct gyre_journal_disk) as a file in a folder, locked against other processes (file.c).
 * Threads: one at a time.
 */
#ifndef GYRE_CORE_JOURNAL_FILE_H
#define GYRE_CORE_JOURNAL_FILE_H

#include "core/journal/journal.h"

struct gyre_journal_file {
    char *path, *new_path;
    int folder, lock; /* descriptors */
    int file;         /* the journal's file; -1: there is none yet */
    int old;          /* while a new file is written: the file before it */
    uint64_t size, old_size;
    unsigned char tail[GYRE_MARK_SIZE], old_tail[GYRE_MARK_SIZE]; /* the bytes (a mark) behind the size */
    size_t tail_size, old_tail_size;
    unsigned char seen[16]; /* the first bytes of the last append, which stand at `seen_at` */
    uint64_t seen_at;
    size_t seen_size; /* 0: nothing was appended since the file was begun or taken back */
    bool synced;      /* whether replacing the file waits for the disk */
    bool renamed;     /* the file was renamed, and its folder was not synced since */
    bool cut;         /* another program made the file shorter: later writes stand behind a hole */
};

/**
 * Writes into a lock file, whose lock this process has, which process that is. It is a hint for people: errors count for
 * nothing.
 */
void gyre_journal_lock_note(int lock);
/** Who has the lock, as the lock file says: "process 12", "another kernel of this program",
 * or, where it names no living process, "a program". */
const char *gyre_journal_lock_holder(int lock, char *text, size_t size);

/**
 * Opens `folder`/`name`.journal, which need not exist. `synced`: a new file is on the disk before it takes
 * the place of the old one. INVALID when another process has it, UNAVAILABLE when the folder cannot be used.
 */
gyre_status gyre_journal_file_open(const char *folder, const char *name, bool synced,
                                   struct gyre_journal_file *out);
/** Closes the file and gives up its lock. Accepts a zeroed struct. */
void gyre_journal_file_close(struct gyre_journal_file *file);
/** Reads all bytes of the file. The caller frees *data. NOT_FOUND when there is no file. */
gyre_status gyre_journal_file_read(const struct gyre_journal_file *file, unsigned char **data, size_t *size);

/** The disk whose context is a struct gyre_journal_file. */
extern const struct gyre_journal_disk gyre_journal_file_disk;

#endif
