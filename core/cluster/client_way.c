/* SPDX-License-Identifier: Apache-2.0 */
/* See client_way.h. */
#include "core/cluster/client_way.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

#define NAP_NS 2000000

/* ---- one block ---- */

void gyre_client_name_block(const struct gyre_cluster *cluster, uint32_t number, uint64_t first,
                            char log[GYRE_CLUSTER_NAME_SIZE], char id[GYRE_CLUSTER_NAME_SIZE])
{
    gyre_cluster_shard_name(log, "in", number);
    snprintf(id, GYRE_CLUSTER_NAME_SIZE, "%s.%u.%llu", cluster->log, number, (unsigned long long)first);
}

gyre_status gyre_client_append(struct gyre_cluster *cluster, gyre_transport_entry *entry, gyre_status status,
                               uint64_t deadline_ns)
{
    bool maybe = false;
    for (;;) {
        maybe = maybe || status == GYRE_TIMEOUT;
        const bool is_final =
            status != GYRE_TIMEOUT && status != GYRE_UNAVAILABLE && status != GYRE_EXHAUSTED;
        if (status == GYRE_OK)
            return status;
        if (is_final || gyre_clock_ns() >= deadline_ns)
            return maybe ? GYRE_TIMEOUT : status;
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        status = gyre_transport_append(cluster->transport, entry->log, &entry->block, &entry->number);
    }
}

/* NULL: no memory. */
static struct gyre_client_way *make_way(const struct gyre_cluster *cluster, uint32_t number,
                                        const unsigned char *bytes, size_t size)
{
    struct gyre_cluster_requests head;
    struct gyre_client_way *way = malloc(sizeof *way + size);
    if (!way)
        return NULL;
    memcpy(&head, bytes, sizeof head);
    *way = (struct gyre_client_way){.first = head.first};
    memcpy(way->bytes, bytes, size);
    gyre_client_name_block(cluster, number, head.first, way->log, way->id);
    way->entry = (gyre_transport_entry){.log = way->log,
                                        .block = {.size = sizeof(gyre_transport_block),
                                                  .bytes = way->bytes,
                                                  .byte_count = size,
                                                  .expected = GYRE_TRANSPORT_ANY,
                                                  .id = way->id}};
    return way;
}

/*
 * The oldest block, as it is appended again. Where others were under way before it, the shard may have passed over the one of before, so this one
 * has an id of its own: a transport would drop it as one that it has.
 */
static void make_repeated(struct gyre_client_way *way)
{
    struct gyre_cluster_requests head;
    memcpy(&head, way->bytes, sizeof head);
    if (!head.unsettled)
        return;
    head.unsettled = 0;
    memcpy(way->bytes, &head, sizeof head);
    gyre_block_seal(way->bytes, way->entry.block.byte_count, GYRE_BLOCK_REQUESTS);
    strncat(way->id, ".again", sizeof way->id - strlen(way->id) - 1);
}

/* ---- those of a shard ---- */

uint32_t gyre_client_unsettled(const struct gyre_client_shard *shard)
{
    return shard->oldest ? (uint32_t)(shard->next - shard->oldest->first) : 0;
}

static void list_shard(struct gyre_cluster *cluster, uint32_t number)
{
    struct gyre_client_shard *shard = &cluster->shards[number];
    if (!shard->is_listed)
        cluster->unsettled[cluster->unsettled_count++] = number;
    shard->is_listed = true;
}

static void add_way(struct gyre_cluster *cluster, uint32_t number, struct gyre_client_way *way)
{
    struct gyre_client_shard *shard = &cluster->shards[number];
    if (shard->latest)
        shard->latest->following = way;
    else
        shard->oldest = way;
    shard->latest = way;
    shard->ahead++;
    list_shard(cluster, number);
}

static void drop_oldest(struct gyre_cluster *cluster, struct gyre_client_shard *shard)
{
    struct gyre_client_way *way = shard->oldest;
    if (way->ticket)
        gyre_transport_drop(cluster->transport, way->ticket);
    shard->oldest = way->following;
    shard->latest = way->following ? shard->latest : NULL;
    shard->ahead--;
    free(way);
}

void gyre_client_keep(struct gyre_cluster *cluster, uint32_t number, const unsigned char *bytes, size_t size)
{
    struct gyre_client_way *way = make_way(cluster, number, bytes, size);
    cluster->shards[number].repeats = true;
    cluster->shards[number].is_unknown = !way;
    list_shard(cluster, number);
    if (way)
        add_way(cluster, number, way);
}

bool gyre_client_begin(struct gyre_cluster *cluster, uint32_t number, const unsigned char *bytes, size_t size)
{
    struct gyre_client_way *way = make_way(cluster, number, bytes, size);
    if (!way)
        return false;
    if (gyre_transport_begin(cluster->transport, &way->entry, 1, &way->ticket) != GYRE_OK) {
        free(way);
        return false;
    }
    add_way(cluster, number, way);
    return true;
}

/* ---- what became of them ---- */

static gyre_status check_known(const struct gyre_client_shard *shard, uint32_t number)
{
    return shard->is_unknown
               ? gyre_error_set(GYRE_LOST,
                                "shard %u: there was no memory to keep a block that may have been sent: what "
                                "follows it cannot be sent by this client; open the cluster again",
                                number)
               : GYRE_OK;
}

/*
 * Whether a block that is there came behind the one before it. Two ways to a server may have different lengths, as where the connection went to another
 * one in between.
 */
static bool is_in_order(const struct gyre_client_shard *shard, const struct gyre_client_way *way)
{
    return way->entry.number > shard->kept_number;
}

/* The status of the oldest block's first try. A block that is there behind a lost one is as good as lost. */
static gyre_status judge_begun(struct gyre_client_shard *shard, uint32_t number, struct gyre_client_way *way)
{
    const gyre_status status = way->entry.status;
    way->ticket = NULL;
    if (status == GYRE_OK && !shard->repeats && is_in_order(shard, way))
        return GYRE_OK;
    shard->repeats = true;
    make_repeated(way);
    return status == GYRE_OK
               ? gyre_error_set(
                     GYRE_TIMEOUT,
                     "shard %u: a block went ahead of one that was lost, and is not sent again yet", number)
               : status;
}

static gyre_status settle_oldest(struct gyre_cluster *cluster, uint32_t number, uint64_t deadline_ns)
{
    struct gyre_client_shard *shard = &cluster->shards[number];
    struct gyre_client_way *way = shard->oldest;
    gyre_status status;
    if (way->ticket) {
        if (gyre_transport_finish(cluster->transport, way->ticket, deadline_ns) != GYRE_OK)
            return gyre_error_set(GYRE_TIMEOUT, "shard %u: what was sent is not acknowledged yet", number);
        status = judge_begun(shard, number, way);
    } else
        status = gyre_transport_append(cluster->transport, way->log, &way->entry.block, &way->entry.number);
    status = gyre_client_append(cluster, &way->entry, status, deadline_ns);
    if (status != GYRE_OK)
        return status;
    shard->kept_number = way->entry.number > shard->kept_number ? way->entry.number : shard->kept_number;
    drop_oldest(cluster, shard);
    shard->repeats = shard->repeats && shard->oldest;
    return GYRE_OK;
}

gyre_status gyre_client_settle_shard(struct gyre_cluster *cluster, uint32_t number, uint64_t deadline_ns)
{
    const struct gyre_client_shard *shard = &cluster->shards[number];
    gyre_status status = check_known(shard, number);
    while (status == GYRE_OK && shard->oldest)
        status = settle_oldest(cluster, number, deadline_ns);
    return status;
}

/* Takes the acknowledgements that are there. */
static void look_at_begun(struct gyre_cluster *cluster, uint32_t number)
{
    const struct gyre_client_shard *shard = &cluster->shards[number];
    gyre_error_hold();
    while (shard->oldest && shard->oldest->ticket &&
           settle_oldest(cluster, number, GYRE_NO_WAIT) == GYRE_OK) {
    }
    gyre_error_let_go();
}

/* The first block of a shard goes alone: from then on the shard knows the client, and what may be missing in front of a block. */
static bool has_way(const struct gyre_cluster *cluster, const struct gyre_client_shard *shard)
{
    return !shard->oldest || (cluster->goes_ahead && !shard->repeats && shard->oldest->first > 1 &&
                              shard->ahead < GYRE_CLIENT_AHEAD_MAX);
}

gyre_status gyre_client_await_way(struct gyre_cluster *cluster, uint32_t number, uint64_t deadline_ns)
{
    const struct gyre_client_shard *shard = &cluster->shards[number];
    gyre_status status = check_known(shard, number);
    if (status == GYRE_OK)
        look_at_begun(cluster, number);
    while (status == GYRE_OK && !has_way(cluster, shard))
        status = settle_oldest(cluster, number, deadline_ns);
    return status;
}

gyre_status gyre_client_settle(struct gyre_cluster *cluster, uint64_t deadline_ns)
{
    gyre_status first = GYRE_OK;
    uint32_t left = 0;
    for (uint32_t i = 0; i < cluster->unsettled_count; i++) {
        const uint32_t number = cluster->unsettled[i];
        const gyre_status status = gyre_client_settle_shard(cluster, number, deadline_ns);
        if (first == GYRE_OK && status != GYRE_OK) {
            first = status;
            gyre_error_hold();
        }
        cluster->shards[number].is_listed = status != GYRE_OK;
        if (status != GYRE_OK)
            cluster->unsettled[left++] = number;
    }
    cluster->unsettled_count = left;
    if (first != GYRE_OK)
        gyre_error_let_go();
    return first;
}

void gyre_client_drop(struct gyre_cluster *cluster)
{
    for (uint32_t i = 0; cluster->shards && i < cluster->app.shards; i++)
        while (cluster->shards[i].oldest)
            drop_oldest(cluster, &cluster->shards[i]);
}
