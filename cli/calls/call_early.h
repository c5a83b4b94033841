/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of gyre call whose turn has not come: a queue with `order = any` may complete a request before an earlier one. Each line
 * is kept until all lines before it are printed; a signal that ends the program takes along what is kept. One thread.
 */
#ifndef GYRE_CLI_CALLS_CALL_EARLY_H
#define GYRE_CLI_CALLS_CALL_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gyre/status.h"

typedef struct call_early {
    uint64_t next;        /* the index of the request whose line is printed next */
    uint64_t room, count; /* the most lines that are kept at a time; how many are kept now */
    char **lines;         /* that of request `index` at index % room; NULL until the first line is kept */
    FILE *open;           /* writes a line */
    char *text;           /* what `open` wrote */
    size_t length;
} call_early;

/** Whether the line of request `index` has to be kept. A line is printed at once when its turn was before, or is too far away. */
bool call_early_wants(const call_early *early, uint64_t index);

/** Returns the stream that the line of the next call of call_early_keep is written to; NULL after an error was set. */
FILE *call_early_open(call_early *early);

/** Keeps what was written to the stream as the line of request `index`, which call_early_wants. */
gyre_status call_early_keep(call_early *early, uint64_t index);

/** Prints the line whose turn it is to `out`, and lets the next one have its turn. False when that line is not kept. */
bool call_early_print(call_early *early, FILE *out);

/** Frees what is kept. */
void call_early_finish(call_early *early);

#endif
