/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing to files in somebody else's program: a write beyond RLIMIT_FSIZE ends a program by SIGXFSZ, and what
 * signals do there is not for a library to change. No state, any thread.
 */
#ifndef GYRE_CORE_BASE_FILE_WRITE_H
#define GYRE_CORE_BASE_FILE_WRITE_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/** As write and pwrite, but beyond the limit of file sizes there is EFBIG alone and no signal. */
ssize_t gyre_file_write(int file, const void *bytes, size_t size);
ssize_t gyre_file_write_at(int file, const void *bytes, size_t size, off_t offset);

/** A stretch of writes by others, stdio's or a compiler's, in which the calling thread gets no SIGXFSZ either. */
struct gyre_file_hush {
    sigset_t signal, before; /* SIGXFSZ; the thread's mask */
    bool pending;            /* somebody else's, who had blocked it */
};

/** In one thread, and nested only as brackets are; errno is kept by the end. */
void gyre_file_hush_begin(struct gyre_file_hush *hush);
void gyre_file_hush_end(const struct gyre_file_hush *hush);

#endif
