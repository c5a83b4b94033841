/* SPDX-License-Identifier: Apache-2.0 */
/* Writes files for results, which options name. Any thread. */
#ifndef GYRE_CLI_BASE_OUTPUT_FILE_H
#define GYRE_CLI_BASE_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Writes a whole file. After a failure the old file, or its absence, is as before. Exception: a device, a pipe, the target of a
 * link, and a file whose folder takes no further name are written in place. False with errno.
 */
bool output_file_write(const char *path, const void *bytes, size_t size);

#endif
