/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a table of the named clients of a queue, and the number of each client's next request. Used for queues whose
 * requests have origins (the client that sent a request, origin.h). The writer of the queue's journal keeps a table, the
 * journal stores it, and the queue gets the stored table when the journal is opened. No locks.
 */
#ifndef GYRE_CORE_QUEUE_NAMES_H
#define GYRE_CORE_QUEUE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * When there are more clients, the table forgets the client that it met first, because a program can invent any number of
 * names. A user with a share of the table or more loses a client of its own for each further client, so that the others
 * stay known.
 */
enum { GYRE_NAMES_MAX = 4096, GYRE_NAMES_SHARE = GYRE_NAMES_MAX / 4 };

/** The bit of a client's number that says: the client has a name, so it is the same client after a restart. */
#define GYRE_ORIGIN_NAMED (UINT64_C(1) << 63)
/** Where the user stands in the number of a client of another user than the server's own. */
enum { GYRE_ORIGIN_USER_AT = 31 };

/**
 * Whether two clients are of one other user. The numbers of clients of the server's own user are hashes in whole, of which
 * hardly two agree here.
 */
static inline bool gyre_names_share_user(uint64_t one, uint64_t other)
{
    return one >> GYRE_ORIGIN_USER_AT == other >> GYRE_ORIGIN_USER_AT;
}

struct gyre_name {
    uint64_t client, next; /* the client's requests below `next` are known */
};

/** The table. A zeroed table is empty. */
struct gyre_names {
    struct gyre_name *all; /* in the order in which the table met the clients */
    size_t count, capacity;
    size_t last; /* the client of the last note, because often the next note is of the same client */
};

/**
 * Notes that the client's requests below `next` are known; ignores a client without a name. False: there is no memory.
 */
bool gyre_names_note(struct gyre_names *names, uint64_t client, uint64_t next);
/** The number of the client's next request; 0: the table does not know the client. */
uint64_t gyre_names_next(const struct gyre_names *names, uint64_t client);
/** Frees the table's memory. */
void gyre_names_release(struct gyre_names *names);

#endif
