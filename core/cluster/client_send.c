/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests of a client to the shards of their keys (client.h). */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/cluster/client_way.h"
#include "gyre/waiting.h"

/* ---- one block ---- */

/* A block of requests, and the names that the transport needs for it. */
struct packet {
    uint32_t shard, count;
    char log[GYRE_CLUSTER_NAME_SIZE], id[GYRE_CLUSTER_NAME_SIZE];
    const unsigned char *bytes;
    size_t size;
};

static gyre_transport_block block_of(const struct packet *packet)
{
    return (gyre_transport_block){.size = sizeof(gyre_transport_block),
                                  .bytes = packet->bytes,
                                  .byte_count = packet->size,
                                  .expected = GYRE_TRANSPORT_ANY,
                                  .id = packet->id};
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
    uint32_t *shards;  /* of each */
    uint32_t *follows; /* the place of the next one to the same shard, counted from 1; 0: none */
    uint32_t *touched; /* the shards that have unsent requests, */
    size_t touched_count;
    bool *done; /* whether each is in its log, or may be */
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

/* Lists the requests of each shard in their order. */
static void sort_by_shard(struct gyre_cluster *cluster, struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct gyre_client_shard *shard = &cluster->shards[batch->shards[i]];
        if (shard->first_unsent)
            batch->follows[shard->last_unsent - 1] = (uint32_t)(i + 1);
        else {
            shard->first_unsent = (uint32_t)(i + 1);
            batch->touched[batch->touched_count++] = batch->shards[i];
        }
        shard->last_unsent = (uint32_t)(i + 1);
    }
}

static void forget_unsent(struct gyre_cluster *cluster, const struct batch *batch)
{
    for (size_t i = 0; i < batch->touched_count; i++)
        cluster->shards[batch->touched[i]].first_unsent = cluster->shards[batch->touched[i]].last_unsent = 0;
}

/* Fills a block with requests of its shard, those that fit. Their numbers are given out once it is in the log, or may be. */
static void fill_packet(struct gyre_cluster *cluster, const struct batch *batch, uint64_t base,
                        uint32_t number, unsigned char *bytes, struct packet *packet)
{
    struct gyre_client_shard *shard = &cluster->shards[number];
    struct gyre_cluster_requests head = {.first = shard->next, .unsettled = gyre_client_unsettled(shard)};
    size_t at = sizeof head;
    memcpy(head.client, cluster->id, sizeof head.client);
    for (uint32_t place = shard->first_unsent; place; place = batch->follows[place - 1]) {
        const struct gyre_cluster_message message = {.length = (uint32_t)batch->size};
        if (at + gyre_cluster_message_room(batch->size) > GYRE_CLIENT_BLOCK_MAX)
            break;
        at = gyre_cluster_message_add(bytes, at, &message, batch->requests + (place - 1) * batch->size);
        shard->indices[(head.first + head.count++) & (shard->room - 1)] = base + place - 1;
    }
    memcpy(bytes, &head, sizeof head);
    gyre_block_seal(bytes, at, GYRE_BLOCK_REQUESTS);
    *packet = (struct packet){.shard = number, .count = head.count, .bytes = bytes, .size = at};
    gyre_client_name_block(cluster, number, head.first, packet->log, packet->id);
}

/* A block that is in its log, or may be: its numbers are given out. */
static gyre_status pass_packet(struct gyre_cluster *cluster, struct batch *batch, const struct packet *packet,
                               gyre_status status)
{
    struct gyre_client_shard *shard = &cluster->shards[packet->shard];
    if (status == GYRE_TIMEOUT)
        gyre_client_keep(cluster, packet->shard, packet->bytes, packet->size);
    if (status != GYRE_OK && status != GYRE_TIMEOUT)
        return status;
    shard->next += packet->count;
    cluster->unanswered += packet->count;
    for (uint32_t i = 0; i < packet->count; i++) {
        batch->done[shard->first_unsent - 1] = true;
        shard->first_unsent = batch->follows[shard->first_unsent - 1];
    }
    return status;
}

static gyre_status not_acknowledged(uint32_t number)
{
    return gyre_error_set(GYRE_AGAIN, "shard %u: a block before this one is not acknowledged yet", number);
}

/* What comes before a block of a shard: room for the numbers, and the blocks before it. */
static gyre_status prepare_shard(struct gyre_cluster *cluster, uint32_t number, size_t more,
                                 uint64_t deadline_ns)
{
    gyre_status status = make_room(&cluster->shards[number], more);
    if (status == GYRE_OK)
        status = gyre_client_await_way(cluster, number, deadline_ns);
    return status == GYRE_TIMEOUT ? not_acknowledged(number) : status;
}

static bool send_ahead(struct gyre_cluster *cluster, struct batch *batch, const struct packet *packet)
{
    return gyre_client_begin(cluster, packet->shard, packet->bytes, packet->size) &&
           pass_packet(cluster, batch, packet, GYRE_OK) == GYRE_OK;
}

/* Appends the blocks, all at once. The first failure is returned; the others stay as they are. */
static gyre_status append_packets(struct gyre_cluster *cluster, struct batch *batch,
                                  const struct packet *packets, size_t count, uint64_t deadline_ns)
{
    gyre_transport_entry entries[GYRE_CLIENT_ROUND_MAX];
    gyre_status first = GYRE_OK;
    for (size_t i = 0; i < count; i++)
        entries[i] = (gyre_transport_entry){.log = packets[i].log, .block = block_of(&packets[i])};
    gyre_transport_append_each(cluster->transport, entries, count);
    for (size_t i = 0; i < count; i++) {
        gyre_status status = gyre_client_append(cluster, &entries[i], entries[i].status, deadline_ns);
        status = pass_packet(cluster, batch, &packets[i], status);
        if (first == GYRE_OK && status != GYRE_OK) {
            first = status;
            gyre_error_hold();
        }
    }
    if (first != GYRE_OK)
        gyre_error_let_go();
    return first;
}

/* Those that cannot go ahead are awaited, once everything before them is there. */
static gyre_status send_packets(struct gyre_cluster *cluster, struct batch *batch,
                                const struct packet *packets, size_t count, uint64_t deadline_ns)
{
    size_t sent = 0;
    while (cluster->goes_ahead && sent < count && send_ahead(cluster, batch, &packets[sent]))
        sent++;
    for (size_t i = sent; i < count; i++) {
        const gyre_status status = gyre_client_settle_shard(cluster, packets[i].shard, deadline_ns);
        if (status != GYRE_OK)
            return status == GYRE_TIMEOUT ? not_acknowledged(packets[i].shard) : status;
    }
    return sent < count ? append_packets(cluster, batch, packets + sent, count - sent, deadline_ns) : GYRE_OK;
}

/* Sends a block for each of the shards from *at on, as many as go together; *at: the first one that has unsent requests. */
static gyre_status send_round(struct gyre_cluster *cluster, struct batch *batch, uint64_t base, size_t *at,
                              uint64_t deadline_ns)
{
    struct packet packets[GYRE_CLIENT_ROUND_MAX];
    const size_t most = GYRE_CLIENT_BLOCK_MAX / gyre_cluster_message_room(batch->size); /* of a block */
    size_t count = 0, used = 0;
    gyre_status status = GYRE_OK, sent = GYRE_OK;
    for (size_t i = *at; i < batch->touched_count && count < GYRE_CLIENT_ROUND_MAX &&
                         used + GYRE_CLIENT_BLOCK_MAX <= GYRE_CLIENT_ROUND_BYTES;
         i++) {
        const uint32_t number = batch->touched[i];
        if (!cluster->shards[number].first_unsent)
            continue;
        status = prepare_shard(cluster, number, most < batch->count ? most : batch->count, deadline_ns);
        if (status != GYRE_OK)
            break;
        fill_packet(cluster, batch, base, number, cluster->blocks + used, &packets[count]);
        used += (packets[count++].size + 7) / 8 * 8;
    }
    if (status != GYRE_OK)
        gyre_error_hold();
    if (count)
        sent = send_packets(cluster, batch, packets, count, deadline_ns);
    if (status != GYRE_OK)
        gyre_error_let_go();
    while (*at < batch->touched_count && !cluster->shards[batch->touched[*at]].first_unsent)
        ++*at;
    return status == GYRE_OK ? sent : status;
}

/* How many requests from the first one on were sent. Those behind a gap that were sent keep their numbers, and are completed. */
static gyre_status send_blocks(struct gyre_cluster *cluster, struct batch *batch, size_t *sent,
                               uint64_t deadline_ns)
{
    const uint64_t base = cluster->next_index;
    gyre_status status = GYRE_OK;
    cluster->next_index += batch->count;
    sort_by_shard(cluster, batch);
    for (size_t at = 0; status == GYRE_OK && at < batch->touched_count;)
        status = send_round(cluster, batch, base, &at, deadline_ns);
    forget_unsent(cluster, batch);
    while (*sent < batch->count && batch->done[*sent])
        ++*sent;
    return status;
}

static gyre_status make_batch(struct batch *batch)
{
    const size_t count = batch->count + 1;
    batch->shards = calloc(count, sizeof *batch->shards);
    batch->follows = calloc(count, sizeof *batch->follows);
    batch->touched = calloc(count, sizeof *batch->touched);
    batch->done = calloc(count, sizeof *batch->done);
    if (batch->shards && batch->follows && batch->touched && batch->done)
        return GYRE_OK;
    return gyre_error_set(GYRE_EXHAUSTED, "no memory to send %zu requests", batch->count);
}

static void free_batch(struct batch *batch)
{
    free(batch->shards);
    free(batch->follows);
    free(batch->touched);
    free(batch->done);
}

static gyre_status too_many(void)
{
    return gyre_error_set(GYRE_AGAIN, "a client has %d unanswered requests at most: receive replies first",
                          GYRE_CLIENT_UNANSWERED_MAX);
}

static gyre_status send_batch(struct gyre_cluster *cluster, const void *requests, size_t size, size_t count,
                              uint64_t *index, size_t *sent, uint64_t deadline_ns)
{
    struct batch batch = {.requests = requests, .size = size, .count = count};
    if (count > GYRE_CLIENT_UNANSWERED_MAX)
        return too_many();
    gyre_status status = make_batch(&batch);
    if (status == GYRE_OK)
        status = find_shards(cluster, &batch);
    pthread_mutex_lock(&cluster->lock);
    if (status == GYRE_OK && cluster->unanswered + count > GYRE_CLIENT_UNANSWERED_MAX)
        status = too_many();
    if (index)
        *index = cluster->next_index;
    if (status == GYRE_OK)
        status = send_blocks(cluster, &batch, sent, deadline_ns);
    pthread_mutex_unlock(&cluster->lock);
    free_batch(&batch);
    return status;
}

gyre_status gyre_cluster_settle(gyre_cluster *cluster, uint64_t deadline_ns)
{
    if (!cluster)
        return GYRE_ARGUMENTS("gyre_cluster_settle", {"cluster", cluster});
    pthread_mutex_lock(&cluster->lock);
    const gyre_status status = gyre_client_settle(cluster, deadline_ns);
    pthread_mutex_unlock(&cluster->lock);
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
