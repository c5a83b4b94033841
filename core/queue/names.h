/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The named clients of a queue whose requests have origins (origin.h), and the number at which each goes on. The writer
 * of the queue's journal has such a table, the journal holds it, and the queue has it as the journal was found. No
 * locks.
 */
#ifndef GYRE_CORE_QUEUE_NAMES_H
#define GYRE_CORE_QUEUE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When there are more, the client that was heard of first is forgotten, because a client can invent names for
 * nothing. */
enum { GYRE_NAMES_MAX = 4096 };

struct gyre_name {
    uint64_t client, next; /* its requests below `next` are known */
};

/** Zeroed is empty. */
struct gyre_names {
    struct gyre_name *all; /* in the order in which they were heard of first */
    size_t count, capacity;
    size_t last; /* the client that was heard of last: often it comes again */
};

/**
 * Notes that the client's requests below `next` are known; ignores a client without a name. False: there is no memory.
 */
bool gyre_names_note(struct gyre_names *names, uint64_t client, uint64_t next);
/** Where its numbers go on; 0: nothing is known. */
uint64_t gyre_names_next(const struct gyre_names *names, uint64_t client);
void gyre_names_release(struct gyre_names *names);

#endif
