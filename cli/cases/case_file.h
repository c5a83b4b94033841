/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Case files (docs/testing.md): a kernel, how it is launched, and requests with the answers that are expected. The first line is
 * the header, a JSON object; each further line is a pair, a JSON object with a request. Blank lines, and lines that begin with
 * '#', say nothing. One thread.
 *
 * A file is read whole and checked before anything runs. An error sentence names the file and the line.
 */
#ifndef GYRE_CLI_CASES_CASE_FILE_H
#define GYRE_CLI_CASES_CASE_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cases/case_slice.h"
#include "cli/cli.h"

/** What a pair expects of its answer. */
typedef enum case_expectation {
    CASE_ANY,      /* no failure */
    CASE_REPLY,    /* this reply */
    CASE_FAILURE,  /* a failure of this code, and of this text where one is given */
    CASE_NO_REPLY, /* an answer without a reply */
    CASE_DROPPED   /* a request that the queue discarded */
} case_expectation;

typedef struct case_pair {
    uint64_t line;
    case_value request; /* the message as JSON, or its bytes as a string of hexadecimal digits */
    bool request_bytes;
    bool later; /* it is sent when all requests before it are answered, after a pause of the kernel */
    case_expectation expectation;
    case_value reply; /* for CASE_REPLY, as `request` */
    bool reply_bytes;
    int32_t failure_code;     /* for CASE_FAILURE */
    const char *failure_text; /* NULL: any */
    json_t *object;           /* owns failure_text */
} case_pair;

typedef struct case_file {
    const char *path; /* borrowed */
    char *text;       /* the file; values point into it */
    size_t length;
    uint64_t header_line;
    case_value header_text;
    json_t *header;
    const char *
        kernel; /* a path that leads there from the current folder, or the name of a configured kernel; NULL: a pipeline */
    const char *pipeline; /* NAME or NAME/ENTRY, in place of a kernel; or NULL */
    uint64_t before;      /* lines that are not counted in sentences */
    uint64_t lanes, blocks, device, seed, seeds, orders, timeout_ms, ulps; /* 0: not given */
    const char *check, *config, *finding, *hash;                           /* NULL: not given */
    const char *state; /* JSON, or @PATH as --state takes it; NULL: not given */
    cli_list settings, buffers, named_buffers;
    char switches[48]; /* a setting; "": none */
    cli_list owned;    /* texts that were made for the members above */
    case_pair *pairs;
    size_t count;
    bool has_later; /* of some pair */
} case_file;

/** Reads and checks a file. Returns an exit code; prints why when it is not CLI_OK. Call case_file_finish in every case. */
int case_file_read(case_file *file, const char *path);
void case_file_finish(case_file *file);

/**
 * As case_file_read, of a text that was made here. `text` belongs to the file from now on. `before`: how many lines at its begin are
 * not counted.
 */
int case_file_take(case_file *file, const char *path, char *text, size_t length, uint64_t before);

/**
 * Whether a list of checks has only words that the backend cpu knows; writes why not. The backend would find out as well, but its
 * refusal looks like that of a backend that cannot start.
 */
bool case_check_words(const char *check, char *why, size_t size);

/** Prints "PATH:LINE: " and a sentence on standard error. Returns CLI_FAILED. */
int case_error(const case_file *file, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * A path that leads to `path` from the folder of `from`, absolute where the two have no folder in common. NULL without memory,
 * or when a path leads to nothing. The caller frees it. `path` may be of "FILE.gyre.c:KERNEL".
 */
char *case_path_from(const char *from, const char *path);

/** A case to write. Lists are of "NAME=FILE" and "SECTION.KEY=VALUE"; NULL and 0 leave a member out. */
typedef struct case_write_desc {
    const char *path, *kernel, *pipeline, *check, *state, *config, *finding;
    uint64_t lanes, blocks, device, seed, seeds;
    const cli_list *settings, *buffers, *named_buffers;
    const char *pairs; /* the lines behind the header */
    size_t length;
} case_write_desc;

/**
 * Refuses a path where a file is that a case would destroy: one with something in it that does not begin as a written case does.
 * Returns an exit code.
 */
int case_file_spare(const char *path);

/** Writes a case file. Returns an exit code; prints why when it is not CLI_OK. */
int case_file_write(const case_write_desc *desc);

/** The hash of a handler's file, "0123456789abcdef". False when the file cannot be read. */
bool case_hash(const char *kernel, char hash[17]);

#endif
