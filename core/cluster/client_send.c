/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests of a client to the shards of their keys (client.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/cluster/client.h"
#include "gyre/waiting.h"

#define NAP_NS 2000000

/* ---- one block ---- */

/* Appends a block until it is known to be in the log, or the deadline. TIMEOUT: not known; another failure: it is not. */
static gyre_status append(struct gyre_cluster *cluster, uint32_t shard, const unsigned char *block,
                          size_t size, uint64_t deadline_ns)
{
    char log[GYRE_CLUSTER_NAME_SIZE], id[GYRE_CLUSTER_NAME_SIZE];
    struct gyre_cluster_requests head;
    bool maybe = false;
    memcpy(&head, block, sizeof head);
    gyre_cluster_shard_name(log, "in", shard);
    snprintf(id, sizeof id, "%s.%u.%llu", cluster->log, shard, (unsigned long long)head.first);
    const gyre_transport_block desc = {
        .size = sizeof desc, .bytes = block, .byte_count = size, .expected = GYRE_TRANSPORT_ANY, .id = id};
    for (;;) {
        const gyre_status status = gyre_transport_append(cluster->transport, log, &desc, NULL);
        maybe = maybe || status == GYRE_TIMEOUT;
        const bool is_final =
            status != GYRE_TIMEOUT && status != GYRE_UNAVAILABLE && status != GYRE_EXHAUSTED;
        if (status == GYRE_OK)
            return status;
        if (is_final || gyre_clock_ns() >= deadline_ns)
            return maybe ? GYRE_TIMEOUT : status;
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
}

/* Under the lock. */
static gyre_status settle_shard(struct gyre_cluster *cluster, uint32_t number, uint64_t deadline_ns)
{
    struct gyre_client_shard *shard = &cluster->shards[number];
    if (!shard->uncertain)
        return GYRE_OK;
    const gyre_status status = append(cluster, number, shard->uncertain, shard->uncertain_size, deadline_ns);
    if (status == GYRE_OK) {
        free(shard->uncertain);
        shard->uncertain = NULL;
    }
    return status;
}

void gyre_client_settle(struct gyre_cluster *cluster)
{
    gyre_error_hold();
    for (uint32_t i = 0; i < cluster->app.shards; i++)
        settle_shard(cluster, i, GYRE_NO_WAIT);
    gyre_error_let_go();
}

/* ---- numbers ---- */

/* Makes room for `more` unanswered requests of the shard. */
static gyre_status make_room(struct gyre_client_shard *shard, uint64_t more)
{
    const uint64_t unanswered = shard->next - 1 - shard->answered;
    uint64_t room = shard->room ? shard->room : 64;
    while (room < unanswered + more)
        room *= 2;
    if (room == shard->room)
        return GYRE_OK;
    uint64_t *indices = calloc(room, sizeof *indices);
    if (!indices)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the numbers of unanswered requests");
    for (uint64_t number = shard->answered + 1; number < shard->next; number++)
        indices[number & (room - 1)] = shard->indices[number & (shard->room - 1)];
    free(shard->indices);
    shard->indices = indices;
    shard->room = room;
    return GYRE_OK;
}

/* ---- batches ---- */

/* Requests of a batch, `size` bytes apart. */
struct batch {
    const unsigned char *requests;
    size_t size, count;
    uint32_t *shards; /* of each */
};

static gyre_status find_shards(const struct gyre_cluster *cluster, const struct batch *batch)
{
    if (batch->size > cluster->request_size || batch->size < cluster->least)
        return gyre_error_set(GYRE_INVALID,
                              "a request of the cluster's kernel '%s' has %llu bytes, found %zu",
                              cluster->app.kernel, (unsigned long long)cluster->request_size, batch->size);
    for (size_t i = 0; i < batch->count; i++) {
        uint64_t hash;
        const gyre_status status =
            gyre_message_key_hash(&cluster->key, batch->requests + i * batch->size, batch->size, &hash);
        if (status != GYRE_OK)
            return status;
        batch->shards[i] = (uint32_t)(hash % cluster->app.shards);
    }
    return GYRE_OK;
}

/* Keeps a block that may be in the log, to be sent again before anything else of its shard. */
static gyre_status keep_uncertain(struct gyre_client_shard *shard, const unsigned char *block, size_t size)
{
    shard->uncertain = malloc(size);
    if (!shard->uncertain)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a block that may have been sent");
    memcpy(shard->uncertain, block, size);
    shard->uncertain_size = size;
    return GYRE_TIMEOUT;
}

/*
 * Sends the requests of one shard from `from` on as one block. Of the requests before `from`, all were sent. The numbers are given out
 * once the block is in the log, or may be.
 */
static gyre_status send_block(struct gyre_cluster *cluster, const struct batch *batch, uint64_t base,
                              size_t from, bool *done, uint64_t deadline_ns)
{
    const uint32_t number = batch->shards[from];
    struct gyre_client_shard *shard = &cluster->shards[number];
    struct gyre_cluster_requests head = {.first = shard->next};
    size_t at = sizeof head;
    gyre_status status = make_room(shard, batch->count - from);
    if (status == GYRE_OK)
        status = settle_shard(cluster, number, deadline_ns);
    if (status != GYRE_OK)
        return status == GYRE_TIMEOUT
                   ? gyre_error_set(GYRE_AGAIN, "shard %u: a block before this one is not acknowledged yet",
                                    number)
                   : status;
    memcpy(head.client, cluster->id, sizeof head.client);
    for (size_t i = from; i < batch->count; i++) {
        const struct gyre_cluster_message message = {.length = (uint32_t)batch->size};
        if (done[i] || batch->shards[i] != number)
            continue;
        if (at + gyre_cluster_message_room(batch->size) > GYRE_CLIENT_BLOCK_MAX)
            break;
        at = gyre_cluster_message_add(cluster->block, at, &message, batch->requests + i * batch->size);
        shard->indices[(head.first + head.count++) & (shard->room - 1)] = base + i;
        done[i] = true;
    }
    memcpy(cluster->block, &head, sizeof head);
    gyre_block_seal(cluster->block, at, GYRE_BLOCK_REQUESTS);
    status = append(cluster, number, cluster->block, at, deadline_ns);
    if (status == GYRE_TIMEOUT)
        status = keep_uncertain(shard, cluster->block, at);
    if (status == GYRE_OK || status == GYRE_TIMEOUT) {
        shard->next += head.count;
        cluster->unanswered += head.count;
    } else {
        for (size_t i = from; i < batch->count; i++)
            done[i] = done[i] && batch->shards[i] != number;
    }
    return status;
}

/* How many requests from the first one on were sent. Those behind a gap that were sent keep their numbers, and are completed. */
static gyre_status send_blocks(struct gyre_cluster *cluster, const struct batch *batch, bool *done,
                               size_t *sent, uint64_t deadline_ns)
{
    const uint64_t base = cluster->next_index;
    gyre_status status = GYRE_OK;
    cluster->next_index += batch->count;
    for (size_t i = 0; status == GYRE_OK && i < batch->count; i++)
        if (!done[i])
            status = send_block(cluster, batch, base, i, done, deadline_ns);
    while (*sent < batch->count && done[*sent])
        ++*sent;
    return status;
}

static gyre_status send_batch(struct gyre_cluster *cluster, const void *requests, size_t size, size_t count,
                              uint64_t *index, size_t *sent, uint64_t deadline_ns)
{
    struct batch batch = {.requests = requests, .size = size, .count = count};
    bool *done = calloc(count + 1, sizeof *done);
    batch.shards = calloc(count + 1, sizeof *batch.shards);
    gyre_status status = GYRE_OK;
    if (!done || !batch.shards)
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory to send %zu requests", count);
    if (status == GYRE_OK)
        status = find_shards(cluster, &batch);
    pthread_mutex_lock(&cluster->lock);
    if (status == GYRE_OK && cluster->unanswered + count > GYRE_CLIENT_UNANSWERED_MAX)
        status =
            gyre_error_set(GYRE_AGAIN, "a client has %d unanswered requests at most: receive replies first",
                           GYRE_CLIENT_UNANSWERED_MAX);
    if (index)
        *index = cluster->next_index;
    if (status == GYRE_OK)
        status = send_blocks(cluster, &batch, done, sent, deadline_ns);
    pthread_mutex_unlock(&cluster->lock);
    free(done);
    free(batch.shards);
    return status;
}

gyre_status gyre_cluster_send_batch(gyre_cluster *cluster, const void *requests, size_t size, size_t count,
                                    uint64_t *index, size_t *sent, uint64_t deadline_ns)
{
    if (!cluster || !requests || !sent)
        return GYRE_ARGUMENTS("gyre_cluster_send_batch", {"cluster", cluster}, {"requests", requests},
                              {"sent", sent});
    *sent = 0;
    return send_batch(cluster, requests, size, count, index, sent, deadline_ns);
}

gyre_status gyre_cluster_send(gyre_cluster *cluster, const void *request, size_t size, uint64_t *index,
                              uint64_t deadline_ns)
{
    size_t sent = 0;
    if (!cluster || !request)
        return GYRE_ARGUMENTS("gyre_cluster_send", {"cluster", cluster}, {"request", request});
    return send_batch(cluster, request, size, 1, index, &sent, deadline_ns);
}
