/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files that options name: regular files and pipes. One thread. */
#ifndef GYRE_CLI_BASE_INPUT_FILE_H
#define GYRE_CLI_BASE_INPUT_FILE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct input_file {
    const char *what; /* one word for error sentences, for example "buffer" */
    const char *path;
    int descriptor;
    bool is_pipe;
    uint64_t size; /* size of a regular file; 0 for a pipe, and for a file of /proc, which has no size */
} input_file;

/** The limit on how long the writer of a pipe may write nothing. */
typedef struct input_wait {
    uint64_t ms;        /* 0: no limit */
    const char *option; /* the option that set the limit, for example "--timeout"; NULL: no option did */
} input_wait;

/**
 * Opens a file without waiting for a writer. Returns an exit code; prints why when it is not CLI_OK. Refuses a path that is
 * neither a regular file nor a pipe. `what` and `path` are borrowed until input_file_close.
 */
int input_file_open(input_file *file, const char *what, const char *path);

/**
 * Reads to the end, or `most` bytes. Waits for the next bytes of a pipe, or its end, as long as `wait` says each time. Refuses
 * a named pipe at once when no process has it open for writing. Returns an exit code; prints why when it is not CLI_OK.
 * CLI_TIMEOUT when the writer writes nothing. The caller owns *bytes and frees it with free().
 */
int input_file_read(const input_file *file, uint64_t most, const input_wait *wait, char **bytes,
                    uint64_t *size);

/** Closes the file. Accepts a file whose open failed. */
void input_file_close(input_file *file);

#endif
