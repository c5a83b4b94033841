/* SPDX-License-Identifier: Apache-2.0 */
/* Files that options name for results. Any thread. */
#ifndef GYRE_CLI_OUTPUT_FILE_H
#define GYRE_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Writes the whole file, or leaves what was there, a file or none, as it was. What is no regular file, a device or a pipe,
 * is written to, and so is what a link leads to, and a file whose folder takes no other name. False with errno.
 */
bool output_file_write(const char *path, const void *bytes, size_t size);

#endif
