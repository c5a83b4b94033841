/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shard's thread handles requests itself where its kernel's device lets it (core/kernel/help.h): a block of requests wakes one thread, not
 * two. A handler that does not return keeps that thread. Then another thread, which the member's starts, leaves it to the handler, and ends the shard (gyre_shard_look_after).
 */
#ifndef GYRE_CORE_CLUSTER_HELPER_H
#define GYRE_CORE_CLUSTER_HELPER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

struct gyre_shard;

/** What the shard's thread and the member's share. Freed by the shard's thread where that was left: it goes `home`, past all that uses the shard. */
struct gyre_shard_helper {
    uint32_t word;     /* atomic: whether the thread is in handlers, and whether it was left there */
    uint64_t since_ns; /* atomic: since when it has been in handlers */
    jmp_buf home;      /* the thread's own: where it ends; pthread_exit would need a library at that moment */
};

/** Decides whether the thread handles the requests of the next block itself: then sends wake nobody. Not where a request may have taken an owner down. */
void gyre_shard_begin_help(struct gyre_shard *shard);
/** Handles what was sent since, `count` requests, or has the device handle it. Goes home when the thread was left meanwhile. */
void gyre_shard_help(struct gyre_shard *shard, uint64_t count);
/** Since when the shard's thread, which was not left, has been in handlers; 0: it is in none. For the member's thread. */
uint64_t gyre_shard_helps_since(struct gyre_shard *shard);
/** Leaves the shard's thread to a handler that it is in. False: it is in none any more. Otherwise the shard is the calling thread's. */
bool gyre_shard_leave_thread(struct gyre_shard *shard);

#endif
