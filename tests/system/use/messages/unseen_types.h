/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message types that nobody wrote: declarations, descriptions of their wire form, and kernels that build each
 * message anew, all from a seed. For tests.
 */
#ifndef GYRE_UNSEEN_TYPES_H
#define GYRE_UNSEEN_TYPES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { UNSEEN_MESSAGES = 4, UNSEEN_WIRED = 2 }; /* messages of a seed; of these, the first have a wire form */

struct unseen;

/** The types of a seed; NULL: no memory. */
struct unseen *unseen_create(uint64_t seed);
void unseen_destroy(struct unseen *unseen);

/** A header with all declarations and descriptions. */
void unseen_write_types(const struct unseen *unseen, FILE *out);

/**
 * Whether a description has another order than its declaration. What is decoded lies in the order of the wire, with
 * other gaps, and a message that fills its tail may then not fit.
 */
bool unseen_is_reordered(const struct unseen *unseen);

/** Kernels unseen_0 and on, of the first `count` messages, each of which gives its message back. */
void unseen_write_kernels(struct unseen *unseen, unsigned count, FILE *out);

#endif
