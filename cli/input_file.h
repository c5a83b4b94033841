/* SPDX-License-Identifier: Apache-2.0 */
/* Files that options name. */
#ifndef GYRE_CLI_INPUT_FILE_H
#define GYRE_CLI_INPUT_FILE_H

#include <stdint.h>
#include <stdio.h>

/**
 * Opens a regular file and tells its size, without waiting for a pipe. NULL after having said why; `what` in one word,
 * as in "buffer". Owner: the caller, fclose().
 */
FILE *input_file_open(const char *what, const char *path, uint64_t *size);

#endif
