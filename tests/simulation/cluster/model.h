/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has to be: a sequential model of each shard, which is told by the transport of everything that takes place there, by whoever it was.
 * The order of a shard is that of its log of requests, each request counted once. From it follow the state of each key behind each request, every reply,
 * and every checkpoint; each is compared as it is written. Rules that do not hold are violations, by name:
 *
 *   doubled, lost, order    a reply or a checkpoint has the effect of a request twice, not at all, or in another order
 *   numbers                 a client's requests, replies, or its number in a checkpoint are not those that follow
 *   outcome                 a request fails that should not, or the other way round
 *   letters                 a request is given up twice, after it was answered and before its client purged that, or for
 *                           no deaths; or poison is passed
 *   epochs                  an earlier owner writes behind a later one
 *   leases                  a member takes a shard whose owner may still work on it
 *   purge                   something is purged that is needed
 *   offer                   a shard is given away by order, and nobody waits for it
 *   text                    a call failed, and no sentence says why
 */
#ifndef GYRE_TESTS_CLUSTER_MODEL_H
#define GYRE_TESTS_CLUSTER_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "double.h"
#include "gyre/gyre.h"

enum { MODEL_SHARDS_MAX = 8, MODEL_SERIALS_MAX = 4096 };

/** Whether a member that is there may still work on the shard that it owns with that epoch; the simulation's. */
bool model_may_work(const char *member, uint64_t incarnation, uint32_t shard, uint64_t epoch);

/** Begins anew. With `offers` every shard that a member gives away while it is not leaving has to be awaited, by a member that has its states. */
void model_begin(uint32_t shards, bool offers, uint64_t lease_ns);
/** A request was acknowledged: it has to be there. */
void model_acknowledged(uint64_t amount);
/** Compares what a client received with what has to be. */
void model_received(uint64_t amount, const gyre_completion *completion, const sim_reply *reply);
/** The state of each key of a shard at the end: compared with a table that was read, as of block `position` of its log. */
void model_compare_table(uint32_t shard, uint64_t position, const unsigned char *table);
/** Whether a member is told to end: then it gives its shards away, whoever waits. */
void model_leaves(const char *name, bool leaves);
/** A shard said that it gives up the replies to the client of that log: they may be missing from then on. */
void model_given_up(const char *log);
bool model_is_given_up(const char *log);
/** Whether the client of that log purged something of it. */
bool model_is_purged(const char *log);
/** How many requests there were, and how many were given up. */
uint64_t model_requests(void);
uint64_t model_letters(void);

#endif
