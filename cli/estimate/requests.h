/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of an estimate: from a file, from arguments, or made of random fields. One thread. */
#ifndef GYRE_CLI_ESTIMATE_REQUESTS_H
#define GYRE_CLI_ESTIMATE_REQUESTS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"
#include "core/types/types.h"

/** A line of JSON each. */
typedef struct estimate_requests {
    char **texts;
    size_t count;
    bool made; /* of random fields */
} estimate_requests;

/** Reads the lines of a file; blank ones are skipped. At most `most` of them. Returns an exit code. */
int requests_read(estimate_requests *requests, const char *path, uint64_t most);
/** Copies texts. Returns an exit code. */
int requests_copy(estimate_requests *requests, const char *const *texts, size_t count);
/**
 * Makes `count` requests: integers from 0 to 99, floats from 0 to 100, the same at each run. Returns an exit code: messages
 * with parts, and those of several types, cannot be made.
 */
int requests_make(estimate_requests *requests, const gyre_layout *layout, uint64_t count);
void requests_finish(estimate_requests *requests);

#endif
