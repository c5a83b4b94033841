/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients with names, of a queue whose requests have origins (origin.h), and where the numbers of each go on: in the
 * memory of whoever writes its journal, in the journal, and, as that was found, with the queue. No locks.
 */
#ifndef GYRE_CORE_QUEUE_NAMES_H
#define GYRE_CORE_QUEUE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of more, the one that was heard of first is forgotten: names cost nothing to invent. */
enum { GYRE_NAMES_MAX = 4096 };

struct gyre_name {
    uint64_t client, next; /* its requests below `next` are known */
};

/** Zeroed is empty. */
struct gyre_names {
    struct gyre_name *all; /* in the order in which they were heard of first */
    size_t count, capacity;
    size_t last; /* which was heard of last: mostly the next one too */
};

/** Requests of a client below `next` are known; of one without a name nothing is noted. False: there is no memory. */
bool gyre_names_note(struct gyre_names *names, uint64_t client, uint64_t next);
/** Where its numbers go on; 0: nothing is known. */
uint64_t gyre_names_next(const struct gyre_names *names, uint64_t client);
void gyre_names_release(struct gyre_names *names);

#endif
