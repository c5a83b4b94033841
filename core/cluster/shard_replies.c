/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of a shard (shard.h): gathered in a block for each client, also those to several blocks of requests, and published before anything
 * that they are the replies to counts as handled. Several blocks may be under way at once (reply_window.h), where the transport can do that. A client
 * takes replies in the order of their numbers, and a block says how many of those before it were under way with it: what is behind one that was
 * lost is passed over, and comes again.
 */
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/cluster/owned_place.h"
#include "core/cluster/shard_replies.h"

#define LONGEST_NAP_NS UINT64_C(20000000)
#define ASK_NS         UINT64_C(100000000)
enum { REPLY_TRIES = 3 };

static void begin_replies(struct gyre_shard *shard)
{
    shard->replies_at = sizeof(struct gyre_cluster_replies);
    shard->replies_count = 0;
}

static void nap(uint64_t time_ns)
{
    nanosleep(&(struct timespec){(time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000)}, NULL);
}

static bool is_deaf(const struct gyre_shard *shard, const unsigned char client[GYRE_CLIENT_ID_SIZE])
{
    return shard->has_deaf && memcmp(shard->deaf, client, GYRE_CLIENT_ID_SIZE) == 0;
}

/* Tells once that a client's log takes nothing, while others do: its replies are given up. */
static void give_up_replies(struct gyre_shard *shard, const char *log,
                            const unsigned char client[GYRE_CLIENT_ID_SIZE])
{
    if (!is_deaf(shard, client))
        gyre_runtime_log(
            shard->site->runtime, GYRE_LOG_ERROR,
            "shard %u: %u replies cannot be written to '%s', and are lost to that client, as are those "
            "that follow while it is so: %s",
            shard->number, shard->replies_count, log, gyre_error_text());
    shard->has_deaf = true;
    memcpy(shard->deaf, client, GYRE_CLIENT_ID_SIZE);
    gyre_error_clear();
}

static gyre_status not_published(const struct gyre_shard *shard)
{
    return gyre_error_set(
        GYRE_LOST,
        "shard %u: it is to be given back, and its last replies could not be written in time: "
        "they are the next owner's",
        shard->number);
}

/*
 * How long, and how often, the replies to a client are tried. One try says little: it may have taken all of reach_ms, as where the server
 * lost the connection in the midst of it, while everything else is taken.
 */
static bool is_tried_enough(const struct gyre_shard *shard, const unsigned char client[GYRE_CLIENT_ID_SIZE],
                            uint64_t tried_ns, uint64_t tries)
{
    const struct gyre_site *site = shard->site;
    return is_deaf(shard, client) || (tried_ns >= site->reach_ns + site->lease_ns && tries >= REPLY_TRIES);
}

/*
 * Whether the transport takes blocks for logs now. The lease does not tell: a transport may keep records in another place than logs, and renew
 * a lease while no log takes anything. So the shard offers a block that would have to be the first of its own log. The log begins with the
 * owner's fence, so a transport that works refuses the block with AGAIN, and one that does not work gives another answer.
 */
static bool are_logs_there(struct gyre_shard *shard)
{
    struct gyre_cluster_fence fence = {.epoch = shard->kept.epoch, .incarnation = shard->kept.incarnation};
    uint64_t number;
    memcpy(fence.owner, shard->kept.owner, sizeof fence.owner);
    gyre_block_seal(&fence, sizeof fence, GYRE_BLOCK_FENCE);
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = &fence, .byte_count = sizeof fence, .expected = 0};
    gyre_error_hold(); /* the sentence is of why the replies were not taken */
    const gyre_status status =
        gyre_transport_append(shard->site->transport, shard->kept.log, &block, &number);
    gyre_error_let_go();
    return status == GYRE_AGAIN;
}

/*
 * Appends a block of replies until it is there. OK also when the replies were given up, after reach_ms and a lease, while blocks for other logs are
 * taken: one client's log does not stop the shard for all others. LOST when the shard is to be given back meanwhile: the next owner handles the
 * block of requests again.
 */
static gyre_status append_replies(struct gyre_shard *shard, const unsigned char client[GYRE_CLIENT_ID_SIZE],
                                  const struct gyre_transport_block *block)
{
    char log[GYRE_CLUSTER_NAME_SIZE];
    uint64_t number, wait_ns = 1000000;
    const struct gyre_site *site = shard->site;
    const uint64_t begin_ns = gyre_clock_ns();
    gyre_cluster_client_name(log, client);
    for (uint64_t tries = 1;; tries++, wait_ns = wait_ns < LONGEST_NAP_NS ? 2 * wait_ns : wait_ns) {
        if (!gyre_shard_has_lease(shard))
            return gyre_shard_lost_lease(shard);
        const gyre_status status = gyre_transport_append(site->transport, log, block, &number);
        const uint64_t tried_ns = gyre_clock_ns() - begin_ns;
        if (status == GYRE_OK) {
            shard->has_deaf = shard->has_deaf && !is_deaf(shard, client);
            return status;
        }
        if (is_tried_enough(shard, client, tried_ns, tries) && are_logs_there(shard) &&
            gyre_shard_has_lease(shard)) {
            give_up_replies(shard, log, client);
            return GYRE_OK;
        }
        if (gyre_shard_is_stopping(shard) && tried_ns >= site->lease_ns)
            return not_published(shard);
        nap(wait_ns);
    }
}

/* ---- one block after the other ---- */

static gyre_transport_block block_of(const unsigned char *bytes, size_t size)
{
    return (gyre_transport_block){.size = sizeof(gyre_transport_block),
                                  .bytes = bytes,
                                  .byte_count = size,
                                  .expected = GYRE_TRANSPORT_ANY};
}

/* All replies to that client that were added before these are there, or were given up. */
static gyre_status append_gathered(struct gyre_shard *shard)
{
    gyre_block_seal(shard->replies, shard->replies_at, GYRE_BLOCK_REPLIES);
    const gyre_transport_block block = block_of(shard->replies, shard->replies_at);
    return append_replies(shard, shard->replies_of, &block);
}

/* ---- several under way ---- */

/* A block that is not there, or is behind one that is not: what it says of those before it is so now. */
static gyre_status append_again(struct gyre_shard *shard, struct gyre_window_block *its)
{
    gyre_cluster_replies_set_unsettled(its->bytes, 0);
    gyre_block_seal(its->bytes, its->size, GYRE_BLOCK_REPLIES);
    const gyre_transport_block block = block_of(its->bytes, its->size);
    return append_replies(shard, its->client, &block);
}

/* Waits until it is known what became of the oldest block. LOST when the lease runs out meanwhile. */
static gyre_status await_oldest(struct gyre_shard *shard)
{
    for (;;) {
        if (!gyre_shard_has_lease(shard))
            return gyre_shard_lost_lease(shard);
        if (gyre_window_ask(gyre_window_at(&shard->window, 0), shard->site->transport,
                            gyre_clock_ns() + ASK_NS) == GYRE_OK)
            return GYRE_OK;
    }
}

/*
 * The oldest block is not there, as far as one knows. Its client passes over what follows it, so everything that is under way is appended again,
 * one after the other. What becomes of the first tries is awaited before: what comes late then is older than what was repeated.
 */
static gyre_status repeat_all(struct gyre_shard *shard)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && shard->window.count) {
        status = await_oldest(shard);
        if (status == GYRE_OK)
            status = append_again(shard, gyre_window_at(&shard->window, 0));
        if (status == GYRE_OK)
            gyre_window_pass(&shard->window, shard->site->transport);
    }
    return status;
}

/* The oldest block, of which is known what became of it. */
static gyre_status take_oldest(struct gyre_shard *shard)
{
    const struct gyre_window_block *block = gyre_window_at(&shard->window, 0);
    if (!gyre_window_is_kept(&shard->window))
        return repeat_all(shard);
    shard->has_deaf = shard->has_deaf && !is_deaf(shard, block->client);
    gyre_window_pass(&shard->window, shard->site->transport);
    return GYRE_OK;
}

static gyre_status settle_oldest(struct gyre_shard *shard)
{
    const gyre_status status = await_oldest(shard);
    return status == GYRE_OK ? take_oldest(shard) : status;
}

static gyre_status settle(struct gyre_shard *shard)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && shard->window.count)
        status = settle_oldest(shard);
    return status;
}

gyre_status gyre_shard_look_at_replies(struct gyre_shard *shard)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && shard->window.count &&
           gyre_window_ask(gyre_window_at(&shard->window, 0), shard->site->transport, 0) == GYRE_OK)
        status = take_oldest(shard);
    return status;
}

/* Begins to append what was gathered; one that cannot be begun is appended behind everything that is under way. */
static gyre_status begin_gathered(struct gyre_shard *shard)
{
    struct gyre_transport *transport = shard->site->transport;
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && !gyre_window_has_room(&shard->window, shard->replies_at))
        status = settle_oldest(shard);
    if (status != GYRE_OK)
        return status;
    gyre_cluster_replies_set_unsettled(
        shard->replies, gyre_window_unsettled(&shard->window, shard->replies_of, shard->replies_first));
    gyre_block_seal(shard->replies, shard->replies_at, GYRE_BLOCK_REPLIES);
    if (!gyre_shard_has_lease(shard))
        return gyre_shard_lost_lease(shard);
    if (gyre_window_begin(&shard->window, transport, shard->replies_of, shard->replies_first, shard->replies,
                          shard->replies_at) == GYRE_OK)
        return GYRE_OK;
    status = settle(shard);
    gyre_cluster_replies_set_unsettled(shard->replies, 0);
    return status == GYRE_OK ? append_gathered(shard) : status;
}

/* ---- publishing ---- */

/*
 * A member without a lease publishes nothing: it may have read on behind requests that another owner has purged. An append that may have taken
 * place is repeated: the client passes over replies that it has.
 */
static gyre_status send_gathered(struct gyre_shard *shard, bool is_last)
{
    const struct gyre_cluster_replies head = {.shard = shard->number, .count = shard->replies_count};
    if (!shard->replies_count)
        return GYRE_OK;
    memcpy(shard->replies, &head, sizeof head);
    const bool is_alone = is_last && !shard->window.count; /* it would be awaited at once */
    const gyre_status status = is_alone || !gyre_transport_can_begin(shard->site->transport)
                                   ? append_gathered(shard)
                                   : begin_gathered(shard);
    begin_replies(shard);
    return status;
}

gyre_status gyre_shard_send_replies(struct gyre_shard *shard)
{
    const uint64_t begin_ns = gyre_clock_ns();
    const gyre_status status = send_gathered(shard, false);
    shard->publishing_ns += gyre_clock_ns() - begin_ns;
    return status;
}

gyre_status gyre_shard_publish(struct gyre_shard *shard)
{
    const uint64_t begin_ns = gyre_clock_ns();
    gyre_status status = send_gathered(shard, true);
    if (status == GYRE_OK)
        status = settle(shard);
    shard->publishing_ns += gyre_clock_ns() - begin_ns;
    return status;
}

/* ---- gathering ---- */

static bool has_room(const struct gyre_shard *shard, const unsigned char client[GYRE_CLIENT_ID_SIZE],
                     uint32_t length)
{
    return !shard->replies_count ||
           (memcmp(shard->replies_of, client, GYRE_CLIENT_ID_SIZE) == 0 &&
            shard->replies_at + gyre_cluster_message_room(length) <= GYRE_TRANSPORT_BLOCK_MAX);
}

gyre_status gyre_shard_add_reply(struct gyre_shard *shard, const unsigned char client[GYRE_CLIENT_ID_SIZE],
                                 uint64_t number, const gyre_completion *completion,
                                 const unsigned char *contents)
{
    const bool failed = completion->outcome == GYRE_HANDLER_FAILED;
    if (shard->follows) /* its owner has published it */
        return GYRE_OK;
    const struct gyre_cluster_message message = {.number = number,
                                                 .outcome = (uint32_t)completion->outcome,
                                                 .code = completion->failure_code,
                                                 .length = failed ? (uint32_t)strlen(completion->failure_text)
                                                                  : completion->length};
    const gyre_status status =
        has_room(shard, client, message.length) ? GYRE_OK : gyre_shard_send_replies(shard);
    if (status != GYRE_OK)
        return status;
    if (!shard->replies_count) {
        memcpy(shard->replies_of, client, GYRE_CLIENT_ID_SIZE);
        shard->replies_ns = gyre_clock_ns();
        shard->replies_first = number;
    }
    shard->replies_at = gyre_cluster_message_add(shard->replies, shard->replies_at, &message,
                                                 failed ? (const void *)completion->failure_text : contents);
    shard->replies_count++;
    return GYRE_OK;
}
