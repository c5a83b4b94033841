/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shard's thread handles requests itself where its kernel's device lets it (core/kernel/help.h): a block of requests wakes one thread, not
 * two. A handler that does not return keeps that thread. The member's thread then starts another one, the ender, which takes the shard over
 * from it and ends the shard (gyre_shard_look_after). Below, "the helper" is the shard's own thread; it is "left" once the ender has the shard.
 */
#ifndef GYRE_CORE_CLUSTER_HELPER_H
#define GYRE_CORE_CLUSTER_HELPER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

struct gyre_shard;

/** What the helper and the ender share. A helper that was left frees it: such a helper may not use the shard any more, and jumps `home`. */
struct gyre_shard_helper {
    uint32_t word;     /* atomic: whether the helper is in handlers, and whether it was left there */
    uint64_t since_ns; /* atomic: since when the helper has been in handlers */
    jmp_buf home;      /* the helper's own: where its thread ends; pthread_exit would load a library here */
};

/**
 * Decides whether the helper handles the requests of the next block itself. If so, sends ring no bell. It does not while one of the
 * requests may be the one that took an earlier owner down.
 */
void gyre_shard_begin_help(struct gyre_shard *shard);
/** Handles the `count` requests that were sent since, or rings for the device to handle them. Does not return to a helper that was left meanwhile. */
void gyre_shard_help(struct gyre_shard *shard, uint64_t count);
/** Returns since when the helper has been in handlers; 0: it is in none. Only while it was not left, for the member's thread. */
uint64_t gyre_shard_helps_since(struct gyre_shard *shard);
/** Leaves the helper in its handler: the shard is the calling thread's then. False: the handler has returned, and nothing was changed. */
bool gyre_shard_leave_thread(struct gyre_shard *shard);

#endif
