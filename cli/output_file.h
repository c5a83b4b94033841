/* SPDX-License-Identifier: Apache-2.0 */
/* Files that options name for results. Any thread. */
#ifndef GYRE_CLI_OUTPUT_FILE_H
#define GYRE_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Writes the whole file, or leaves the old file, or its absence, as it was. A device, a pipe, the target of a link, and a file whose
 * folder takes no other name are written to directly. False with errno.
 */
bool output_file_write(const char *path, const void *bytes, size_t size);

#endif
