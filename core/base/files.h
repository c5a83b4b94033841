/* SPDX-License-Identifier: Apache-2.0 */
/* Compares and reads files, for the layers that share these functions. file_write.h writes. No state, any thread. */
#ifndef GYRE_CORE_BASE_FILES_H
#define GYRE_CORE_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Whether both paths lead to the same file. False when one of them leads to no file. */
bool gyre_files_are_same(const char *one, const char *other);

/**
 * How many bytes to read of a file of `size` bytes that may have at most `most`: `size`; or `most` + 1 when `size` is larger
 * or 0, because files in /proc have size 0 whatever they hold.
 */
size_t gyre_file_room(size_t size, size_t most);

/** Reads until `room` bytes are read or the file ends. Returns how many bytes; -1 with errno. */
ssize_t gyre_file_read(int descriptor, char *bytes, size_t room);

/**
 * Reads the text of a regular file that may have at most `most` bytes, and puts a NUL behind it. Reads at most one byte more
 * than `most`. NULL with errno; EFBIG when the file is longer. The caller frees the text.
 */
char *gyre_file_text(int descriptor, size_t most, size_t *length);

#endif
