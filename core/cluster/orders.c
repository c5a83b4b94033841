/* SPDX-License-Identifier: Apache-2.0 */
/* See orders.h. No state. */
#include "core/cluster/orders.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

static const char NAME[] = "orders";

static bool is_sound(const struct gyre_cluster_order *order)
{
    const bool is_known = order->kind == GYRE_ORDER_DRAIN ||
                          (order->kind == GYRE_ORDER_SHARD && order->shard < GYRE_SHARDS_MAX);
    return is_known && gyre_cluster_text_is_name(order->member, sizeof order->member, false);
}

static gyre_status read_orders(struct gyre_transport *transport, struct gyre_orders *out)
{
    unsigned char bytes[GYRE_TRANSPORT_RECORD_MAX];
    struct gyre_cluster_orders head;
    size_t size;
    *out = (struct gyre_orders){0};
    gyre_status status =
        gyre_transport_record_get(transport, NAME, bytes, sizeof bytes, &size, &out->revision);
    if (status == GYRE_NOT_FOUND)
        return GYRE_OK;
    if (status == GYRE_OK)
        status = gyre_block_check(bytes, size, GYRE_BLOCK_ORDERS, sizeof head,
                                  "the cluster's record 'orders'", NULL);
    if (status != GYRE_OK)
        return status;
    memcpy(&head, bytes, sizeof head);
    if (head.count > GYRE_ORDERS_MAX || size != sizeof head + head.count * sizeof out->list[0])
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "the cluster's record 'orders': expected %d orders at most that fill its bytes, "
            "found %u in %zu bytes",
            GYRE_ORDERS_MAX, head.count, size);
    memcpy(out->list, bytes + sizeof head, head.count * sizeof out->list[0]);
    for (uint32_t i = 0; i < head.count; i++)
        if (!is_sound(&out->list[i]))
            return gyre_error_set(GYRE_INCOMPATIBLE,
                                  "the cluster's record 'orders': order %u names no member or no shard", i);
    out->count = head.count;
    return GYRE_OK;
}

gyre_status gyre_orders_read(struct gyre_transport *transport, struct gyre_orders *out)
{
    char why[400];
    const gyre_status status = read_orders(transport, out);
    if (status != GYRE_INCOMPATIBLE)
        return status;
    snprintf(why, sizeof why, "%s", gyre_error_text());
    return gyre_error_set(status, "%s; `gyre cluster drain --reset` replaces damaged orders by none", why);
}

bool gyre_orders_drains(const struct gyre_orders *orders, const char *member)
{
    for (uint32_t i = 0; i < orders->count; i++)
        if (orders->list[i].kind == GYRE_ORDER_DRAIN && strcmp(orders->list[i].member, member) == 0)
            return true;
    return false;
}

const char *gyre_orders_member_of(const struct gyre_orders *orders, uint32_t shard)
{
    for (uint32_t i = 0; i < orders->count; i++)
        if (orders->list[i].kind == GYRE_ORDER_SHARD && orders->list[i].shard == shard)
            return orders->list[i].member;
    return NULL;
}

/* ---- changes ---- */

/* Whether two orders are about the same thing, so that the later one takes the place of the earlier one. */
static bool is_about_the_same(const struct gyre_cluster_order *one, const struct gyre_cluster_order *other)
{
    if (one->kind != other->kind)
        return false;
    return one->kind == GYRE_ORDER_SHARD ? one->shard == other->shard
                                         : strcmp(one->member, other->member) == 0;
}

static gyre_status change(struct gyre_orders *orders, const struct gyre_cluster_order *order, bool holds)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < orders->count; i++)
        if (!is_about_the_same(&orders->list[i], order))
            orders->list[count++] = orders->list[i];
    if (holds && count == GYRE_ORDERS_MAX)
        return gyre_error_set(
            GYRE_EXHAUSTED,
            "the cluster has %d orders already: take some back first (`gyre cluster move SHARD "
            "--home`, `gyre cluster drain MEMBER --end`)",
            GYRE_ORDERS_MAX);
    if (holds)
        orders->list[count++] = *order;
    orders->count = count;
    return GYRE_OK;
}

static gyre_status write_orders(struct gyre_transport *transport, const struct gyre_orders *orders)
{
    unsigned char bytes[GYRE_TRANSPORT_RECORD_MAX];
    const struct gyre_cluster_orders head = {.count = orders->count};
    const size_t size = sizeof head + orders->count * sizeof orders->list[0];
    uint64_t revision;
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, orders->list, size - sizeof head);
    gyre_block_seal(bytes, size, GYRE_BLOCK_ORDERS);
    return gyre_transport_record_put(transport, NAME, bytes, size, orders->revision, &revision);
}

/* A write that may have taken place is made again on what is there then: the same order twice is one. */
static gyre_status set(struct gyre_transport *transport, const struct gyre_cluster_order *order, bool holds,
                       uint64_t deadline_ns)
{
    struct gyre_orders orders;
    for (;;) {
        gyre_status status = gyre_orders_read(transport, &orders);
        if (status == GYRE_OK)
            status = change(&orders, order, holds);
        if (status == GYRE_OK)
            status = write_orders(transport, &orders);
        if (status == GYRE_AGAIN)
            gyre_error_set(GYRE_AGAIN, "others write the cluster's record 'orders' all the time: try again");
        const bool may_pass = status == GYRE_AGAIN || status == GYRE_TIMEOUT || status == GYRE_UNAVAILABLE;
        if (!may_pass || gyre_clock_ns() >= deadline_ns)
            return status;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

gyre_status gyre_orders_set_drain(struct gyre_transport *transport, const char *member, bool drains,
                                  uint64_t deadline_ns)
{
    struct gyre_cluster_order order = {.kind = GYRE_ORDER_DRAIN};
    snprintf(order.member, sizeof order.member, "%s", member);
    return set(transport, &order, drains, deadline_ns);
}

gyre_status gyre_orders_set_member(struct gyre_transport *transport, uint32_t shard, const char *member,
                                   uint64_t deadline_ns)
{
    struct gyre_cluster_order order = {.kind = GYRE_ORDER_SHARD, .shard = shard};
    snprintf(order.member, sizeof order.member, "%s", member ? member : "");
    return set(transport, &order, member != NULL, deadline_ns);
}

gyre_status gyre_orders_reset(struct gyre_transport *transport, uint64_t deadline_ns)
{
    struct gyre_orders orders;
    bool has_tried = false;
    for (;;) {
        gyre_status status = gyre_orders_read(transport, &orders);
        if (status == GYRE_OK && has_tried)
            return status; /* a write that was not acknowledged took place, or somebody else's did */
        if (status == GYRE_OK)
            return gyre_error_set(
                GYRE_INVALID, "the cluster's orders are whole: `gyre cluster move SHARD --home` and `gyre "
                              "cluster drain MEMBER --end` take each back");
        if (status == GYRE_INCOMPATIBLE) {
            has_tried = true;
            orders.revision =
                orders.revision ? orders.revision : GYRE_TRANSPORT_ANY; /* it is as damaged as its record */
            status = write_orders(transport, &orders);
        }
        const bool may_pass = status == GYRE_AGAIN || status == GYRE_TIMEOUT || status == GYRE_UNAVAILABLE;
        if (!may_pass || gyre_clock_ns() >= deadline_ns)
            return status;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}
