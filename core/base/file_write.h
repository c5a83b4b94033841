/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes to files so that a write beyond RLIMIT_FSIZE fails instead of ending the program by SIGXFSZ. The application, not
 * the library, decides what signals do. No state, any thread.
 */
#ifndef GYRE_CORE_BASE_FILE_WRITE_H
#define GYRE_CORE_BASE_FILE_WRITE_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/** As write and pwrite, but a write beyond the limit of file sizes fails with EFBIG and raises no signal. */
ssize_t gyre_file_write(int file, const void *bytes, size_t size);
ssize_t gyre_file_write_at(int file, const void *bytes, size_t size, off_t offset);

/** A section of code that writes by other functions, such as stdio. The calling thread gets no SIGXFSZ in it. */
struct gyre_file_hush {
    sigset_t signal, before; /* SIGXFSZ alone; the thread's mask before */
    bool pending;            /* SIGXFSZ was blocked and pending before, so it stays pending */
};

/** Begin and end the section, in the same thread. Sections may be nested. gyre_file_hush_end keeps errno. */
void gyre_file_hush_begin(struct gyre_file_hush *hush);
void gyre_file_hush_end(const struct gyre_file_hush *hush);

#endif
