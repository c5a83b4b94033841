/* SPDX-License-Identifier: Apache-2.0 */
/* See look.h. */
#include "core/cluster/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

static gyre_status look_at_shards(struct gyre_transport *transport, struct gyre_cluster_look *look)
{
    char name[GYRE_CLUSTER_NAME_SIZE];
    gyre_status status = GYRE_OK;
    look->places = calloc(look->app.shards, sizeof *look->places);
    look->requests = calloc(look->app.shards, sizeof *look->requests);
    if (!look->places || !look->requests)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the shards of a cluster");
    for (uint32_t i = 0; status == GYRE_OK && i < look->app.shards; i++) {
        status = gyre_place_read(transport, i, &look->places[i]);
        if (status == GYRE_OK)
            status =
                gyre_transport_last(transport, gyre_cluster_shard_name(name, "in", i), &look->requests[i]);
    }
    return status;
}

/* Orders that are damaged hide nothing else. */
static gyre_status look_at_orders(struct gyre_transport *transport, struct gyre_cluster_look *look)
{
    const gyre_status status = gyre_orders_read(transport, &look->orders);
    if (status != GYRE_INCOMPATIBLE)
        return status;
    snprintf(look->trouble, sizeof look->trouble, "%s", gyre_error_text());
    gyre_error_clear();
    return GYRE_OK;
}

gyre_status gyre_cluster_look_take(struct gyre_transport *transport, uint64_t apart_ns,
                                   struct gyre_cluster_look *look)
{
    *look = (struct gyre_cluster_look){.now_ns = 0};
    gyre_status status = gyre_cluster_app_read(transport, &look->app);
    if (status == GYRE_NOT_FOUND)
        return gyre_error_set(GYRE_NOT_FOUND,
                              "no member of this cluster was ever there: start one, with the same "
                              "[cluster]");
    look->roster.lease_ns = look->app.lease_ns;
    if (status == GYRE_OK)
        status = gyre_roster_look(&look->roster, transport);
    if (status != GYRE_OK)
        return status;
    nanosleep(&(struct timespec){(time_t)(apart_ns / 1000000000), (long)(apart_ns % 1000000000)}, NULL);
    look->now_ns = gyre_clock_ns();
    status = gyre_roster_look(&look->roster, transport);
    if (status == GYRE_OK)
        status = look_at_orders(transport, look);
    return status == GYRE_OK ? look_at_shards(transport, look) : status;
}

void gyre_cluster_look_finish(struct gyre_cluster_look *look)
{
    free(look->places);
    free(look->requests);
}

uint32_t gyre_cluster_look_owned(const struct gyre_cluster_look *look,
                                 const struct gyre_roster_member *member)
{
    uint32_t owned = 0;
    for (uint32_t i = 0; i < look->app.shards; i++)
        owned += strcmp(look->places[i].owner, member->name) == 0;
    return owned;
}

const char *gyre_cluster_look_word(const struct gyre_cluster_look *look,
                                   const struct gyre_roster_member *member)
{
    if (member->state == GYRE_MEMBER_GONE)
        return "gone";
    if (member->seen_ns < look->now_ns)
        return "silent";
    if (member->state == GYRE_MEMBER_DRAINED)
        return gyre_cluster_look_owned(look, member) ? "draining" : "drained";
    return member->state == GYRE_MEMBER_LEAVING ? "leaving" : "here";
}
