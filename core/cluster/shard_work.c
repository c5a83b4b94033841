/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles the requests of a shard, block by block in the order of its log (shard.h).
 *
 * The kernel is idle between two blocks, so a checkpoint there has the effect of whole blocks. Replies of a block are published before
 * anything counts as handled: an owner that dies in between leaves them to the next one, which handles the block again and publishes the
 * same; clients pass over what they have.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/cluster/owned_place.h"
#include "core/cluster/shard.h"

#define IDLE_NS UINT64_C(20000000)
enum { REPLY_TRIES = 3 };

/* ---- replies ---- */

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

/* Tells once that a client's log takes nothing, while the member keeps its lease in the same transport: its replies are given up. */
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
 * Appends a block of replies until it is there. OK also when the replies were given up, after reach_ms and a lease: one client's log does not stop the
 * shard for all others. LOST when the shard is to be given back meanwhile: the next owner handles the block of requests again.
 */
static gyre_status append_replies(struct gyre_shard *shard, const unsigned char client[GYRE_CLIENT_ID_SIZE],
                                  const struct gyre_transport_block *block)
{
    char log[GYRE_CLUSTER_NAME_SIZE];
    uint64_t number, wait_ns = 1000000;
    const struct gyre_site *site = shard->site;
    const uint64_t begin_ns = gyre_clock_ns();
    gyre_cluster_client_name(log, client);
    for (uint64_t tries = 1;; tries++, wait_ns = wait_ns < IDLE_NS ? 2 * wait_ns : wait_ns) {
        if (!gyre_shard_has_lease(shard))
            return gyre_shard_lost_lease(shard);
        const gyre_status status = gyre_transport_append(site->transport, log, block, &number);
        const uint64_t tried_ns = gyre_clock_ns() - begin_ns;
        if (status == GYRE_OK) {
            shard->has_deaf = shard->has_deaf && !is_deaf(shard, client);
            return status;
        }
        if (gyre_shard_has_lease(shard) && is_tried_enough(shard, client, tried_ns, tries)) {
            give_up_replies(shard, log, client);
            return GYRE_OK;
        }
        if (gyre_shard_is_stopping(shard) && tried_ns >= site->lease_ns)
            return not_published(shard);
        nap(wait_ns);
    }
}

/*
 * Publishes the replies to one client. A member without a lease publishes nothing: it may have read on behind requests that another
 * owner has purged. An append that may have taken place is repeated: the client passes over replies that it has.
 */
static gyre_status publish(struct gyre_shard *shard, const unsigned char client[GYRE_CLIENT_ID_SIZE])
{
    struct gyre_cluster_replies head = {.shard = shard->number, .count = shard->replies_count};
    if (!shard->replies_count)
        return GYRE_OK;
    memcpy(shard->replies, &head, sizeof head);
    gyre_block_seal(shard->replies, shard->replies_at, GYRE_BLOCK_REPLIES);
    const gyre_transport_block block = {.size = sizeof block,
                                        .bytes = shard->replies,
                                        .byte_count = shard->replies_at,
                                        .expected = GYRE_TRANSPORT_ANY};
    const gyre_status status = append_replies(shard, client, &block);
    begin_replies(shard);
    return status;
}

/* Adds a reply; publishes the block first if it has no room. */
static gyre_status add_reply(struct gyre_shard *shard, const unsigned char client[GYRE_CLIENT_ID_SIZE],
                             uint64_t number, const gyre_completion *completion)
{
    const bool failed = completion->outcome == GYRE_HANDLER_FAILED;
    const struct gyre_cluster_message message = {.number = number,
                                                 .outcome = (uint32_t)completion->outcome,
                                                 .code = completion->failure_code,
                                                 .length = failed ? (uint32_t)strlen(completion->failure_text)
                                                                  : completion->length};
    gyre_status status = GYRE_OK;
    if (shard->replies_at + gyre_cluster_message_room(message.length) > GYRE_TRANSPORT_BLOCK_MAX)
        status = publish(shard, client);
    if (status != GYRE_OK)
        return status;
    shard->replies_at =
        gyre_cluster_message_add(shard->replies, shard->replies_at, &message,
                                 failed ? (const void *)completion->failure_text : shard->reply);
    shard->replies_count++;
    return GYRE_OK;
}

/* ---- requests ---- */

/* The requests of a block that were sent to the kernel and not received: their numbers follow each other. */
struct flight {
    struct gyre_shard *shard;
    const struct gyre_cluster_requests *head;
    uint64_t next;  /* the number of the next reply */
    uint64_t count; /* under way */
};

/* Waits as long as a handler takes, unless the shard is to be given back and the handler does not return in time. */
static gyre_status await_completion(struct gyre_shard *shard, gyre_completion *completion)
{
    uint64_t give_up_ns = 0;
    for (;;) {
        const gyre_status status = gyre_receive(shard->queue, shard->reply, shard->reply_size, completion,
                                                gyre_clock_ns() + 5 * IDLE_NS);
        shard->has_crashed = status != GYRE_TIMEOUT && status != GYRE_OK;
        if (status != GYRE_TIMEOUT)
            return status;
        const uint64_t now = gyre_clock_ns();
        if (!gyre_shard_has_lease(shard))
            return gyre_shard_lost_lease(shard);
        if (gyre_shard_is_stopping(shard) && !give_up_ns)
            give_up_ns = now + shard->site->reach_ns;
        if (give_up_ns && now > give_up_ns)
            return gyre_error_set(GYRE_LOST,
                                  "shard %u: a handler does not return: its request is the next owner's",
                                  shard->number);
    }
}

/* A request that a handler did not end (its kernel was lost, or stopped) is the next owner's. */
static gyre_status receive_one(struct flight *flight)
{
    struct gyre_shard *shard = flight->shard;
    gyre_completion completion;
    gyre_status status = await_completion(shard, &completion);
    if (status != GYRE_OK)
        return status;
    if (completion.outcome != GYRE_REPLIED && completion.outcome != GYRE_NOT_REPLIED &&
        completion.outcome != GYRE_HANDLER_FAILED) {
        shard->has_crashed = true;
        return gyre_error_set(GYRE_LOST, "shard %u: its kernel did not handle a request", shard->number);
    }
    flight->count--;
    return add_reply(shard, flight->head->client, flight->next++, &completion);
}

static gyre_status drain(struct flight *flight)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && flight->count)
        status = receive_one(flight);
    return status;
}

/* A request that no handler gets is answered with why, behind those before it. */
static gyre_status answer_failed(struct flight *flight, int32_t code, const char *why)
{
    gyre_completion completion = {.outcome = GYRE_HANDLER_FAILED, .failure_code = code};
    snprintf(completion.failure_text, sizeof completion.failure_text, "%s", why);
    const gyre_status status = drain(flight);
    gyre_text_end_whole(completion.failure_text);
    return status == GYRE_OK ? add_reply(flight->shard, flight->head->client, flight->next++, &completion)
                             : status;
}

static gyre_status send_one(struct flight *flight, const struct gyre_cluster_walk *walk)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && flight->count >= flight->shard->under_way)
        status = receive_one(flight);
    if (status == GYRE_OK)
        status = gyre_send(flight->shard->queue, walk->contents, walk->message.length, NULL, GYRE_FOREVER);
    if (status == GYRE_OK)
        flight->count++;
    else if (status != GYRE_INVALID)
        flight->shard->has_crashed = true;
    return status == GYRE_INVALID ? answer_failed(flight, GYRE_FAILURE_LENGTH, gyre_error_cause()) : status;
}

static gyre_status try_one(struct flight *flight, const struct gyre_cluster_walk *walk, uint64_t position,
                           uint64_t number)
{
    struct gyre_shard *shard = flight->shard;
    bool is_given_up = false;
    gyre_status status = shard->trial.is_alone ? drain(flight) : GYRE_OK;
    if (status == GYRE_OK)
        status = gyre_trial_request(shard, flight->head->client, number, position, walk, &is_given_up);
    if (status == GYRE_OK && is_given_up)
        return answer_failed(flight, GYRE_FAILURE_CRASH, "its handler took each owner down");
    return status == GYRE_OK ? send_one(flight, walk) : status;
}

/*
 * The requests of a client follow each other. Where some are missing, this owner read behind what another one has purged, or the transport
 * lost them: states without their effect would be wrong ones.
 */
static gyre_status check_follows(const struct gyre_shard *shard, const struct gyre_cluster_requests *head,
                                 const struct gyre_cluster_caller *caller, uint64_t position)
{
    if (caller->number == 0 || head->first <= caller->number + 1)
        return GYRE_OK;
    if (!gyre_shard_has_lease(shard))
        return gyre_shard_lost_lease(shard);
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "block %llu of the cluster's log '%s' has the requests of a client from number %llu on, expected %llu: the "
        "transport lost what it had acknowledged; put back a copy of what it keeps, or begin another app",
        (unsigned long long)position, shard->log, (unsigned long long)head->first,
        (unsigned long long)(caller->number + 1));
}

static gyre_status handle_requests(struct gyre_shard *shard, const struct gyre_cluster_requests *head,
                                   struct gyre_cluster_walk *walk, uint64_t position)
{
    struct gyre_cluster_caller *caller = gyre_callers_note(&shard->kept.callers, head->client, position);
    struct flight flight = {.shard = shard, .head = head};
    uint64_t number = head->first, handled = 0, passed = 0;
    gyre_status status = check_follows(shard, head, caller, position);
    begin_replies(shard);
    for (; status == GYRE_OK && gyre_cluster_walk_next(walk); number++) {
        if (number <= caller->number) {
            passed++;
            continue;
        }
        flight.next = flight.next ? flight.next : number;
        status = try_one(&flight, walk, position, number);
        handled++;
    }
    if (status == GYRE_OK)
        status = drain(&flight);
    if (status == GYRE_OK)
        status = publish(shard, head->client);
    if (status == GYRE_OK && handled)
        caller->number = number - 1;
    shard->since += handled;
    gyre_site_count(shard->site, &shard->site->info.handled, handled);
    gyre_site_count(shard->site, &shard->site->info.duplicates, passed);
    return status;
}

/* What is no block of requests is passed over by every owner, and told. */
static gyre_status handle_block(struct gyre_shard *shard, size_t size, uint64_t number)
{
    struct gyre_cluster_requests head;
    struct gyre_cluster_walk walk;
    char where[GYRE_CLUSTER_NAME_SIZE + 64];
    snprintf(where, sizeof where, "block %llu of the cluster's log '%s'", (unsigned long long)number,
             shard->log);
    gyre_status status = gyre_cluster_requests_open(shard->requests, size, where, &head, &walk);
    if (status == GYRE_INCOMPATIBLE) {
        gyre_runtime_log(shard->site->runtime, GYRE_LOG_WARNING, "%s: it is passed over", gyre_error_text());
        gyre_error_clear();
        status = GYRE_OK;
    } else if (status == GYRE_OK) {
        status = gyre_trial_block(shard, number);
        if (status == GYRE_OK)
            status = handle_requests(shard, &head, &walk, number);
    }
    if (status != GYRE_OK)
        return status;
    shard->position = number;
    return gyre_trial_after(shard);
}

/* ---- checkpoints ---- */

static bool is_checkpoint_due(const struct gyre_shard *shard, uint64_t now_ns)
{
    return shard->position != shard->kept.position &&
           (shard->since >= shard->site->checkpoint_requests ||
            now_ns - shard->checkpoint_ns >= shard->site->checkpoint_ns);
}

/* ---- the loop ---- */

static bool may_pass(gyre_status status)
{
    return status == GYRE_AGAIN || status == GYRE_TIMEOUT || status == GYRE_UNAVAILABLE ||
           status == GYRE_EXHAUSTED;
}

/* Reads the next block and handles it; waits for a moment while there is none. */
static gyre_status work_once(struct gyre_shard *shard)
{
    struct gyre_transport *transport = shard->site->transport;
    size_t size;
    uint64_t number;
    gyre_status status = gyre_transport_read(transport, shard->log, shard->position, shard->requests,
                                             GYRE_TRANSPORT_BLOCK_MAX, &size, &number);
    if (!gyre_shard_has_lease(shard))
        return gyre_shard_lost_lease(shard);
    if (status == GYRE_OK)
        return handle_block(shard, size, number);
    if (!may_pass(status))
        return status;
    if (gyre_transport_wait(transport, shard->log, shard->position, gyre_clock_ns() + IDLE_NS) ==
        GYRE_UNAVAILABLE)
        nap(IDLE_NS);
    return GYRE_OK;
}

/* After the first look at its requests, so that they do not wait for the transport to take it. */
static gyre_status tell_work(struct gyre_shard *shard)
{
    shard->tells_work = false;
    return gyre_shard_write_place(shard);
}

gyre_status gyre_shard_work(struct gyre_shard *shard)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && !gyre_shard_is_stopping(shard)) {
        status = work_once(shard);
        if (status == GYRE_OK && shard->tells_work)
            status = tell_work(shard);
        if (status == GYRE_OK && is_checkpoint_due(shard, gyre_clock_ns()))
            status = gyre_shard_checkpoint(shard);
    }
    return status;
}
