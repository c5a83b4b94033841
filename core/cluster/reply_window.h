/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of replies of a shard that are under way: their appends were begun, and are not known to have taken place. The oldest one is asked for first.
 * What follows a block that is not there was perhaps appended, and is of no use to its client until that one is (shard_replies.c). One thread: the
 * shard's.
 */
#ifndef GYRE_CORE_CLUSTER_REPLY_WINDOW_H
#define GYRE_CORE_CLUSTER_REPLY_WINDOW_H

#include "core/cluster/format.h"
#include "core/transport/transport.h"

enum { GYRE_WINDOW_BLOCKS = 8, GYRE_WINDOW_BYTES = 1 << 20 };

struct gyre_window_block {
    unsigned char *bytes;
    size_t size;
    gyre_transport_ticket *ticket; /* NULL: what became of it is known, and in `entry` */
    gyre_transport_entry entry;
    char log[GYRE_CLUSTER_NAME_SIZE];
    unsigned char client[GYRE_CLIENT_ID_SIZE];
    uint64_t first; /* the number of its first reply */
    uint64_t
        behind; /* the transport's number of the block to that client before it, as far as that was under way with it */
};

/** Zeros: an empty one. It stays where it is while blocks are under way. */
struct gyre_reply_window {
    struct gyre_window_block blocks[GYRE_WINDOW_BLOCKS]; /* a ring */
    uint32_t oldest, count;
    size_t bytes;
};

/** Whether a block of that size has room beside those that are under way; an empty window has room for any. */
bool gyre_window_has_room(const struct gyre_reply_window *window, size_t size);
/** How many replies to that client, in front of the one with number `first`, are under way. */
uint32_t gyre_window_unsettled(const struct gyre_reply_window *window,
                               const unsigned char client[GYRE_CLIENT_ID_SIZE], uint64_t first);
/** Begins to append a copy of a block, for which there is room. A failure: it is not under way. */
gyre_status gyre_window_begin(struct gyre_reply_window *window, struct gyre_transport *transport,
                              const unsigned char client[GYRE_CLIENT_ID_SIZE], uint64_t first,
                              const void *bytes, size_t size);
/** The block `at` places behind the oldest one. */
static inline struct gyre_window_block *gyre_window_at(struct gyre_reply_window *window, uint32_t at)
{
    return &window->blocks[(window->oldest + at) % GYRE_WINDOW_BLOCKS];
}
/** OK: it is known what became of the block, block->entry.status. AGAIN: not until the deadline (0: now). */
gyre_status gyre_window_ask(struct gyre_window_block *block, struct gyre_transport *transport,
                            uint64_t deadline_ns);
/**
 * Whether the oldest block, of which is known what became of it, is there, and behind the one to its client before it. Two ways to a server may
 * have different lengths, as where the connection went to another one in between.
 */
bool gyre_window_is_kept(struct gyre_reply_window *window);
/** Forgets the oldest block. */
void gyre_window_pass(struct gyre_reply_window *window, struct gyre_transport *transport);

#endif
