/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record `orders`: what an operator told the cluster about placement, which holds until it is taken back. Members read it in each look and
 * do as it says; nothing in it changes who owns a shard: that is the record of its place (place.h).
 */
#ifndef GYRE_CORE_CLUSTER_ORDERS_H
#define GYRE_CORE_CLUSTER_ORDERS_H

#include "core/cluster/format.h"
#include "core/transport/transport.h"

struct gyre_orders {
    uint64_t revision; /* 0: there is no record yet */
    uint32_t count;
    struct gyre_cluster_order list[GYRE_ORDERS_MAX];
};

/** Reads and checks the record; no orders when there is none. After a failure *out has none either. INCOMPATIBLE when it is damaged. */
gyre_status gyre_orders_read(struct gyre_transport *transport, struct gyre_orders *out);
/** Whether the member of that name is to give its shards away and to take none. */
bool gyre_orders_drains(const struct gyre_orders *orders, const char *member);
/** The member to which the shard was ordered; NULL: none. */
const char *gyre_orders_member_of(const struct gyre_orders *orders, uint32_t shard);
/** Orders a member to be drained, or ends that. Repeats while other writers are first. EXHAUSTED when there are too many orders. */
gyre_status gyre_orders_set_drain(struct gyre_transport *transport, const char *member, bool drains,
                                  uint64_t deadline_ns);
/** Orders a shard to a member; NULL ends that. As gyre_orders_set_drain. */
gyre_status gyre_orders_set_member(struct gyre_transport *transport, uint32_t shard, const char *member,
                                   uint64_t deadline_ns);
/** Replaces orders that are damaged by none. INVALID when they are whole. */
gyre_status gyre_orders_reset(struct gyre_transport *transport, uint64_t deadline_ns);

#endif
