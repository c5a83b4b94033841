/* SPDX-License-Identifier: Apache-2.0 */
/* What more than one layer asks and reads of files. No state, any thread. */
#ifndef GYRE_CORE_BASE_FILES_H
#define GYRE_CORE_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Whether both paths lead to one file, by whatever names; false when either leads nowhere. */
bool gyre_files_are_same(const char *one, const char *other);

/**
 * How many bytes to read of a file that may have `most`: its size, or one more than `most` where it is larger, or 0,
 * which files in /proc say of themselves whatever they hold.
 */
size_t gyre_file_room(size_t size, size_t most);

/** Reads up to `room` bytes, to the end of the file. The count of them; -1 with errno. */
ssize_t gyre_file_read(int descriptor, char *bytes, size_t room);

/**
 * The text of a regular file that may have `most` bytes, with a NUL behind it; no more than one byte beyond `most` is
 * ever read. NULL with errno, EFBIG for a longer file. Owner of the text: the caller, free().
 */
char *gyre_file_text(int descriptor, size_t most, size_t *length);

#endif
