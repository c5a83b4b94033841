/* SPDX-License-Identifier: Apache-2.0 */
/* Receives replies of a cluster (client.h): those that came before are passed over, and what does not fit is told. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/cluster/client.h"
#include "gyre/waiting.h"

#define SLICE_NS UINT64_C(20000000)
enum { PURGE_EVERY = 256, TEXT_MAX = sizeof(((gyre_completion *)NULL)->failure_text) - 1 };

static gyre_status foreign(const struct gyre_cluster *cluster, const char *what)
{
    return gyre_error_set(GYRE_INCOMPATIBLE, "block %llu of the cluster's log '%s': %s",
                          (unsigned long long)cluster->position, cluster->log, what);
}

/* Reads the next block of replies. AGAIN when there is none. Under the lock. */
static gyre_status read_block(struct gyre_cluster *cluster)
{
    size_t size;
    uint64_t number;
    gyre_status status = gyre_reading_next(&cluster->reading, cluster->transport, cluster->log,
                                           cluster->position, cluster->replies, &size, &number);
    if (status != GYRE_OK)
        return status;
    if (++cluster->read_count >= PURGE_EVERY) {
        gyre_error_hold();
        gyre_transport_purge(cluster->transport, cluster->log, cluster->position);
        gyre_error_let_go();
        cluster->read_count = 0;
    }
    cluster->position = number;
    cluster->walk.left = 0;
    status = gyre_cluster_replies_open(cluster->replies, size, cluster->log, &cluster->head, &cluster->walk);
    if (status == GYRE_OK && cluster->head.shard >= cluster->app.shards) {
        cluster->walk.left = 0;
        status = foreign(cluster, "it is of a shard that is not there");
    }
    cluster->settled = status == GYRE_OK ? gyre_cluster_replies_settled(cluster->replies, &cluster->head) : 0;
    return status;
}

/* Reads the completion in the walk. Not *is_new: it came before, or it comes again behind one that is still missing. */
static gyre_status take_reply(struct gyre_cluster *cluster, gyre_completion *completion, bool *is_new)
{
    const struct gyre_cluster_message *message = &cluster->walk.message;
    struct gyre_client_shard *shard = &cluster->shards[cluster->head.shard];
    *is_new = false;
    if (message->number <= shard->answered)
        return GYRE_OK;
    if (message->number > shard->answered + 1 && cluster->settled <= shard->answered)
        return GYRE_OK;
    if (message->number != shard->answered + 1 || message->number >= shard->next)
        return foreign(cluster, "its replies are not those that come next: some were lost");
    if (message->outcome < GYRE_REPLIED || message->outcome > GYRE_HANDLER_FAILED)
        return foreign(cluster, "a reply has an outcome that is not there");
    *is_new = true;
    *completion = (gyre_completion){.index = shard->indices[message->number & (shard->room - 1)],
                                    .outcome = (gyre_completion_outcome)message->outcome,
                                    .failure_code = message->code};
    if (message->outcome == GYRE_HANDLER_FAILED)
        memcpy(completion->failure_text, cluster->walk.contents,
               message->length < TEXT_MAX ? message->length : TEXT_MAX);
    else
        completion->length = message->length;
    return GYRE_OK;
}

static void pass_reply(struct gyre_cluster *cluster)
{
    cluster->shards[cluster->head.shard].answered++;
    cluster->unanswered--;
}

/* ---- completions ---- */

/* What a caller asks for: up to `count` replies, `size` bytes apart, and their completions. */
struct wish {
    unsigned char *replies;
    size_t size, count;
    gyre_completion *completions; /* NULL: a failure is told by the status */
    uint64_t index;               /* UINT64_MAX: any */
    size_t taken;
};

static gyre_status give(struct wish *wish, const gyre_completion *completion, const unsigned char *bytes)
{
    if (completion->length > wish->size)
        return gyre_error_set(GYRE_INVALID, "a reply has %u bytes, found room for %zu", completion->length,
                              wish->size);
    const size_t place = wish->taken++;
    if (completion->length)
        memcpy(wish->replies + place * wish->size, bytes, completion->length);
    if (wish->completions)
        wish->completions[place] = *completion;
    else if (completion->outcome == GYRE_HANDLER_FAILED)
        return gyre_error_set(GYRE_FAILED, "%s", completion->failure_text);
    return GYRE_OK;
}

/* Takes a completion that another caller's wait came across. */
static gyre_status take_kept(struct gyre_cluster *cluster, struct wish *wish)
{
    struct gyre_client_reply **link = &cluster->kept;
    while (*link && wish->index != UINT64_MAX && (*link)->completion.index != wish->index)
        link = &(*link)->next;
    struct gyre_client_reply *reply = *link;
    if (!reply)
        return GYRE_AGAIN;
    const gyre_status status = give(wish, &reply->completion, reply->bytes);
    if (status == GYRE_INVALID)
        return status;
    *link = reply->next;
    if (cluster->kept_end == &reply->next)
        cluster->kept_end = link;
    free(reply);
    return status;
}

static gyre_status keep(struct gyre_cluster *cluster, const gyre_completion *completion)
{
    struct gyre_client_reply *reply = malloc(sizeof *reply + completion->length);
    if (!reply)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a reply that another caller waits for");
    reply->next = NULL;
    reply->completion = *completion;
    memcpy(reply->bytes, cluster->walk.contents, completion->length);
    *cluster->kept_end = reply;
    cluster->kept_end = &reply->next;
    pass_reply(cluster);
    return GYRE_OK;
}

/* Looks at the replies of the block that was read. AGAIN when the wish is not among them. A reply that is not taken stays. */
static gyre_status take_read(struct gyre_cluster *cluster, struct wish *wish)
{
    for (struct gyre_cluster_walk before = cluster->walk; gyre_cluster_walk_next(&cluster->walk);
         before = cluster->walk) {
        gyre_completion completion;
        bool is_new;
        gyre_status status = take_reply(cluster, &completion, &is_new);
        if (status == GYRE_OK && !is_new)
            continue;
        const bool wanted =
            wish->index == UINT64_MAX || (status == GYRE_OK && completion.index == wish->index);
        if (status == GYRE_OK && !wanted) {
            status = keep(cluster, &completion);
            if (status == GYRE_OK)
                continue;
        } else if (status == GYRE_OK) {
            status = give(wish, &completion, cluster->walk.contents);
            if (status == GYRE_OK || status == GYRE_FAILED) {
                pass_reply(cluster);
                return status;
            }
        }
        cluster->walk = before;
        return status;
    }
    return GYRE_AGAIN;
}

/* Under the lock. */
static gyre_status take_one(struct gyre_cluster *cluster, struct wish *wish)
{
    gyre_status status = take_kept(cluster, wish);
    while (status == GYRE_AGAIN) {
        status = take_read(cluster, wish);
        if (status != GYRE_AGAIN)
            break;
        status = read_block(cluster);
        if (status != GYRE_OK)
            break;
        status = GYRE_AGAIN;
    }
    return status;
}

/*
 * Takes one completion, and those that are at hand behind it. What is wrong with one of these is told by the next call, which finds it first. Under
 * the lock.
 */
static gyre_status take_some(struct gyre_cluster *cluster, struct wish *wish)
{
    const gyre_status first = take_one(cluster, wish);
    gyre_status status = first;
    while (status == GYRE_OK && wish->taken < wish->count) {
        status = take_kept(cluster, wish);
        if (status == GYRE_AGAIN)
            status = take_read(cluster, wish);
    }
    if (first == GYRE_OK && status != GYRE_OK)
        gyre_error_clear();
    return first;
}

/* A failure is told by who sends or settles. */
static void settle_quietly(struct gyre_cluster *cluster)
{
    gyre_error_hold();
    gyre_client_settle(cluster, GYRE_NO_WAIT);
    gyre_error_let_go();
}

static gyre_status receive(struct gyre_cluster *cluster, struct wish *wish, uint64_t deadline_ns)
{
    for (;;) {
        pthread_mutex_lock(&cluster->lock);
        const gyre_status status = take_some(cluster, wish);
        const uint64_t position = cluster->position;
        if (status == GYRE_AGAIN || status == GYRE_UNAVAILABLE)
            settle_quietly(cluster);
        pthread_mutex_unlock(&cluster->lock);
        if (status != GYRE_AGAIN && status != GYRE_UNAVAILABLE && status != GYRE_TIMEOUT)
            return status;
        if (deadline_ns == GYRE_NO_WAIT)
            return gyre_error_set(GYRE_AGAIN, "no reply of the cluster is there yet");
        const uint64_t now = gyre_clock_ns();
        if (now >= deadline_ns)
            return gyre_error_set(
                GYRE_TIMEOUT,
                "no reply of the cluster came in time: is a member alive? `gyre cluster status` tells");
        gyre_transport_wait(cluster->transport, cluster->log, position,
                            deadline_ns - now < SLICE_NS ? deadline_ns : now + SLICE_NS);
    }
}

gyre_status gyre_cluster_receive(gyre_cluster *cluster, void *reply, size_t size, gyre_completion *completion,
                                 uint64_t deadline_ns)
{
    if (!cluster || (!reply && size))
        return GYRE_ARGUMENTS("gyre_cluster_receive", {"cluster", cluster}, {"reply", reply || !size});
    struct wish wish = {
        .replies = reply, .size = size, .count = 1, .completions = completion, .index = UINT64_MAX};
    return receive(cluster, &wish, deadline_ns);
}

gyre_status gyre_cluster_receive_batch(gyre_cluster *cluster, void *replies, size_t size, size_t count,
                                       gyre_completion *completions, size_t *received, uint64_t deadline_ns)
{
    if (!cluster || (!replies && size) || !completions || !received)
        return GYRE_ARGUMENTS("gyre_cluster_receive_batch", {"cluster", cluster},
                              {"replies", replies || !size}, {"completions", completions},
                              {"received", received});
    struct wish wish = {
        .replies = replies, .size = size, .count = count, .completions = completions, .index = UINT64_MAX};
    const gyre_status status = count ? receive(cluster, &wish, deadline_ns) : GYRE_OK;
    *received = wish.taken;
    return status;
}

gyre_status gyre_cluster_call(gyre_cluster *cluster, const void *request, size_t request_size, void *reply,
                              size_t reply_size, gyre_completion *completion, uint64_t deadline_ns)
{
    struct wish wish = {.replies = reply, .size = reply_size, .count = 1, .completions = completion};
    if (!cluster || !request || (!reply && reply_size))
        return GYRE_ARGUMENTS("gyre_cluster_call", {"cluster", cluster}, {"request", request},
                              {"reply", reply || !reply_size});
    const gyre_status status = gyre_cluster_send(cluster, request, request_size, &wish.index, deadline_ns);
    return status == GYRE_OK || status == GYRE_TIMEOUT ? receive(cluster, &wish, deadline_ns) : status;
}
