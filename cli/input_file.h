/* SPDX-License-Identifier: Apache-2.0 */
/* Files that options name: regular ones and pipes. One thread. */
#ifndef GYRE_CLI_INPUT_FILE_H
#define GYRE_CLI_INPUT_FILE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct input_file {
    const char *what; /* in one word, as in "buffer" */
    const char *path;
    int descriptor;
    bool is_pipe;
    uint64_t size; /* of a regular file, which those of /proc do not tell; 0 for a pipe */
} input_file;

/** How long the writer of a pipe may write nothing. */
typedef struct input_wait {
    uint64_t ms;        /* 0: no limit */
    const char *option; /* which says so, as in "--timeout"; NULL where none does */
} input_wait;

/**
 * Opens without waiting for anybody. Returns an exit code and has said why when it is not CLI_OK; refuses a path that is neither a
 * regular file nor a pipe. `what` and `path` are borrowed until input_file_close.
 */
int input_file_open(input_file *file, const char *what, const char *path);

/**
 * Reads to the end, or `most` bytes. Waits for the next bytes of a pipe, or its end, as long as `wait` says each time. A named pipe
 * that nobody has open for writing is refused at once. Returns an exit code and has said why when it is not
 * CLI_OK; CLI_TIMEOUT for a writer that writes nothing. Owner of *bytes: the caller, free().
 */
int input_file_read(const input_file *file, uint64_t most, const input_wait *wait, char **bytes,
                    uint64_t *size);

/** Also after an open that failed. */
void input_file_close(input_file *file);

#endif
