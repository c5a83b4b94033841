/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles the requests of a shard, block by block in the order of its log (shard.h).
 *
 * The kernel is idle between two blocks, so a checkpoint there has the effect of whole blocks. Replies are published before a checkpoint says
 * that their requests are handled: an owner that dies in between leaves them to the next one, which handles the blocks again and publishes
 * the same; clients pass over what they have.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/cluster/owned_place.h"
#include "core/cluster/shard_handover.h"
#include "core/cluster/helper.h"
#include "core/cluster/shard_replies.h"

#define IDLE_NS      UINT64_C(20000000)
#define MERGE_NS     UINT64_C(1000000)
#define HAND_OVER_NS UINT64_C(3000000)
#define FOLLOW_NS    UINT64_C(10000000)
#define SHARE_NS     UINT64_C(1000000) /* a shard: how long all of them sleep */
#define LONGEST_NS   UINT64_C(1000000000)
enum { SHARDS_TOGETHER = 64 };

static void nap(uint64_t time_ns)
{
    nanosleep(&(struct timespec){(time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000)}, NULL);
}

/* ---- requests ---- */

/* The requests of a block that were sent to the kernel and not received: their numbers follow each other. */
struct flight {
    struct gyre_shard *shard;
    const struct gyre_cluster_requests *head;
    uint64_t next;   /* the number of the next reply */
    uint64_t count;  /* under way */
    size_t gathered; /* requests in shard->chunk */
};

gyre_status gyre_shard_no_return(const struct gyre_shard *shard)
{
    return gyre_error_set(GYRE_LOST, "shard %u: a handler does not return: its request is the next owner's",
                          shard->number);
}

/* Waits as long as a handler takes, unless the shard is to be given back and the handler does not return in time. */
static gyre_status await_completions(struct gyre_shard *shard, gyre_completion *completions, size_t *count)
{
    uint64_t give_up_ns = 0;
    for (;;) {
        *count = 0;
        const gyre_status status =
            gyre_receive_batch(shard->queue, shard->reply, shard->reply_size, shard->at_once, completions,
                               count, gyre_clock_ns() + 5 * IDLE_NS);
        if (*count)
            return GYRE_OK;
        shard->has_crashed = status != GYRE_TIMEOUT && status != GYRE_OK;
        if (status != GYRE_TIMEOUT)
            return status;
        const uint64_t now = gyre_clock_ns();
        if (!gyre_shard_has_lease(shard))
            return gyre_shard_lost_lease(shard);
        if (gyre_shard_is_stopping(shard) && !give_up_ns)
            give_up_ns = now + shard->site->reach_ns;
        if (give_up_ns && now > give_up_ns)
            return gyre_shard_no_return(shard);
    }
}

/* A request that a handler did not end (its kernel was lost, or stopped) is the next owner's. */
static gyre_status take_completion(struct flight *flight, const gyre_completion *completion, size_t place)
{
    struct gyre_shard *shard = flight->shard;
    if (completion->outcome != GYRE_REPLIED && completion->outcome != GYRE_NOT_REPLIED &&
        completion->outcome != GYRE_HANDLER_FAILED) {
        shard->has_crashed = true;
        return gyre_error_set(GYRE_LOST, "shard %u: its kernel did not handle a request", shard->number);
    }
    flight->count--;
    return shard->follows ? GYRE_OK
                          : gyre_shard_add_reply(shard, flight->head->client, flight->next++, completion,
                                                 shard->reply + place * shard->reply_size);
}

/* The replies that are there, one at least. */
static gyre_status receive_some(struct flight *flight)
{
    gyre_completion completions[GYRE_SHARD_AT_ONCE_MAX];
    size_t count;
    gyre_shard_help(flight->shard, flight->count);
    gyre_status status = await_completions(flight->shard, completions, &count);
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        status = take_completion(flight, &completions[i], i);
    return status;
}

static gyre_status drain(struct flight *flight)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && flight->count)
        status = receive_some(flight);
    return status;
}

/* A request that no handler gets is answered with why, behind those before it. */
static gyre_status answer_failed(struct flight *flight, int32_t code, const char *why)
{
    gyre_completion completion = {.outcome = GYRE_HANDLER_FAILED, .failure_code = code};
    snprintf(completion.failure_text, sizeof completion.failure_text, "%s", why);
    const gyre_status status = drain(flight);
    gyre_text_end_whole(completion.failure_text);
    return status == GYRE_OK
               ? gyre_shard_add_reply(flight->shard, flight->head->client, flight->next++, &completion, NULL)
               : status;
}

static gyre_status make_way(struct flight *flight, uint64_t more)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && flight->count && flight->count + more > flight->shard->under_way)
        status = receive_some(flight);
    return status;
}

static gyre_status send_one(struct flight *flight, const void *request, size_t length)
{
    gyre_status status = make_way(flight, 1);
    if (status == GYRE_OK)
        status = gyre_send(flight->shard->queue, request, length, NULL, GYRE_FOREVER);
    if (status == GYRE_OK)
        flight->count++;
    else if (status != GYRE_INVALID)
        flight->shard->has_crashed = true;
    return status == GYRE_INVALID ? answer_failed(flight, GYRE_FAILURE_LENGTH, gyre_error_cause()) : status;
}

/* Sends what was gathered; a request that the queue does not take is sent alone, and answered with why. */
static gyre_status send_chunk(struct flight *flight)
{
    struct gyre_shard *shard = flight->shard;
    gyre_status status = make_way(flight, flight->gathered);
    for (size_t at = 0; status == GYRE_OK && at < flight->gathered;) {
        const unsigned char *first = shard->chunk + at * shard->request_size;
        size_t sent = 0;
        status = gyre_send_batch(shard->queue, first, shard->request_size, flight->gathered - at, &sent,
                                 GYRE_FOREVER);
        flight->count += sent;
        at += sent;
        if (status == GYRE_INVALID && at < flight->gathered) {
            status = send_one(flight, shard->chunk + at * shard->request_size, shard->request_size);
            at++;
        } else if (status != GYRE_OK)
            shard->has_crashed = true;
    }
    flight->gathered = 0;
    return status;
}

/* Whether a request goes to the kernel with others: it is whole, and nobody died of one. */
static bool goes_with_others(const struct gyre_shard *shard, const struct gyre_cluster_walk *walk)
{
    return walk->message.length == shard->request_size && !shard->trial.is_alone && !shard->trial.count;
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
    return status == GYRE_OK ? send_one(flight, walk->contents, walk->message.length) : status;
}

/*
 * The requests of a client follow each other, but for a block that was under way with those before it: that comes again behind them. Where others are missing, this owner read behind what another one has purged, or the transport
 * lost them: states without their effect would be wrong ones.
 */
static gyre_status check_follows(const struct gyre_shard *shard, const struct gyre_cluster_requests *head,
                                 const struct gyre_cluster_caller *caller, uint64_t position)
{
    if (caller->number == 0 || head->first <= caller->number + 1 ||
        gyre_cluster_requests_come_again(head, caller->number))
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

/*
 * Replies wait for those of the next block if that is there: a block of replies for several of requests. Not for long, and not while an owner is
 * careful, whose marks say that everything before is published.
 */
static bool may_wait(const struct gyre_shard *shard, uint64_t position)
{
    return !shard->trial.careful_until && shard->replies_count &&
           gyre_clock_ns() - shard->replies_ns < MERGE_NS &&
           gyre_reading_has_next(shard->site->transport, shard->log, position);
}

/* Adds a request to those that go together, or sends those and then this one. */
static gyre_status handle_one(struct flight *flight, const struct gyre_cluster_walk *walk, uint64_t position,
                              uint64_t number)
{
    struct gyre_shard *shard = flight->shard;
    flight->next = flight->next ? flight->next : number;
    if (goes_with_others(shard, walk)) {
        memcpy(shard->chunk + flight->gathered * shard->request_size, walk->contents, shard->request_size);
        return ++flight->gathered == shard->at_once ? send_chunk(flight) : GYRE_OK;
    }
    const gyre_status status = send_chunk(flight);
    return status == GYRE_OK ? try_one(flight, walk, position, number) : status;
}

static gyre_status handle_requests(struct gyre_shard *shard, const struct gyre_cluster_requests *head,
                                   struct gyre_cluster_walk *walk, uint64_t position)
{
    struct gyre_cluster_caller *caller = gyre_callers_note(&shard->kept.callers, head->client, position);
    struct flight flight = {.shard = shard, .head = head, .count = shard->unfinished};
    uint64_t number = head->first, handled = 0, passed = 0;
    gyre_shard_begin_help(shard);
    gyre_status status = check_follows(shard, head, caller, position);
    walk->left = gyre_cluster_requests_come_again(head, caller->number) ? 0 : walk->left;
    for (; status == GYRE_OK && gyre_cluster_walk_next(walk); number++) {
        if (number <= caller->number) {
            passed++;
            continue;
        }
        status = handle_one(&flight, walk, position, number);
        handled++;
    }
    if (status == GYRE_OK)
        status = send_chunk(&flight);
    if (status == GYRE_OK && !shard->follows)
        status = drain(&flight);
    shard->unfinished = flight.count;
    if (status == GYRE_OK && !may_wait(shard, position))
        status = shard->trial.careful_until ? gyre_shard_publish(shard) : gyre_shard_send_replies(shard);
    if (status == GYRE_OK && handled)
        caller->number = number - 1;
    shard->since += handled;
    if (!shard->follows) {
        gyre_site_count(shard->site, &shard->site->info.handled, handled);
        gyre_site_count(shard->site, &shard->site->info.duplicates, passed);
    }
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
    shard->unpurged++;
    return gyre_trial_after(shard);
}

/* ---- checkpoints ---- */

/*
 * How old the last checkpoint may be. Where there are many shards each one has a small part of the requests, and checkpoints of all of them would be
 * most of what the transport has to do: a shard of many keeps one as rarely as it has requests.
 */
static uint64_t checkpoint_age_ns(const struct gyre_site *site)
{
    const uint64_t times = site->app.shards / SHARDS_TOGETHER;
    return site->checkpoint_ns * (times ? times : 1);
}

static bool is_checkpoint_due(const struct gyre_shard *shard, uint64_t now_ns)
{
    const bool may_begin = !shard->kept.writing.is_open && !shard->handover.begin_ns;
    return may_begin && shard->position != shard->kept.position &&
           (shard->since >= shard->site->checkpoint_requests ||
            now_ns - shard->checkpoint_ns >= checkpoint_age_ns(shard->site));
}

/* ---- the loop ---- */

static bool may_pass(gyre_status status)
{
    return status == GYRE_AGAIN || status == GYRE_TIMEOUT || status == GYRE_UNAVAILABLE ||
           status == GYRE_EXHAUSTED;
}

/*
 * Until a checkpoint may be due at most. The more shards there are the longer each one sleeps, so that all of them wake up no more often than a few do.
 * A shard that waits longer is given back a little later, and handles a request as soon as it comes.
 */
static uint64_t idle_ns(const struct gyre_shard *shard)
{
    if (shard->handover.begin_ns)
        return HAND_OVER_NS;
    const uint64_t rare_ns = gyre_reading_nap_ns(&shard->reading);
    const uint64_t many_ns = shard->site->app.shards * SHARE_NS;
    const uint64_t nap_ns = many_ns < rare_ns ? rare_ns : many_ns < LONGEST_NS ? many_ns : LONGEST_NS;
    const uint64_t now = gyre_clock_ns(), due_ns = shard->checkpoint_ns + checkpoint_age_ns(shard->site);
    if (shard->position == shard->kept.position || due_ns <= now)
        return nap_ns;
    return due_ns - now < nap_ns ? due_ns - now : nap_ns;
}

/* Waits for a moment, with nothing that is not under way at least. */
static gyre_status idle(struct gyre_shard *shard)
{
    gyre_status status = gyre_shard_send_replies(shard);
    if (status == GYRE_OK)
        status = gyre_shard_look_at_replies(shard);
    if (shard->kept.writing.is_open)
        return status; /* its next block is written meanwhile */
    if (status == GYRE_OK && gyre_transport_wait(shard->site->transport, shard->log, shard->position,
                                                 gyre_clock_ns() + idle_ns(shard)) == GYRE_UNAVAILABLE)
        nap(IDLE_NS);
    return status;
}

/* Reads the next block and handles it; waits for a moment while there is none. */
static gyre_status work_once(struct gyre_shard *shard)
{
    size_t size;
    uint64_t number;
    const gyre_status status = gyre_reading_next(&shard->reading, shard->site->transport, shard->log,
                                                 shard->position, shard->requests, &size, &number);
    if (!gyre_shard_has_lease(shard))
        return gyre_shard_lost_lease(shard);
    if (status == GYRE_OK) {
        const uint64_t begin_ns = gyre_clock_ns(), before_ns = shard->publishing_ns;
        const gyre_status handled = handle_block(shard, size, number);
        shard->busy_ns += gyre_clock_ns() - begin_ns - (shard->publishing_ns - before_ns);
        return handled;
    }
    return may_pass(status) ? idle(shard) : status;
}

/* Nobody waits for a single block, so the requests of several are under way together. */
gyre_status gyre_shard_follow(struct gyre_shard *shard, uint64_t handled)
{
    const uint64_t until = gyre_clock_ns() + FOLLOW_NS;
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && shard->position < handled && gyre_clock_ns() < until) {
        size_t size;
        uint64_t number;
        status = gyre_reading_next(&shard->reading, shard->site->transport, shard->log, shard->position,
                                   shard->requests, &size, &number);
        if (status == GYRE_OK && number > handled)
            return gyre_error_set(GYRE_INCOMPATIBLE, "shard %u: a block that its owner handled is not there",
                                  shard->number);
        const gyre_status handling = status == GYRE_OK ? handle_block(shard, size, number) : GYRE_OK;
        if (handling != GYRE_OK) /* a block that was handled in part is not handled again */
            return handling;
    }
    if (status != GYRE_OK && !may_pass(status))
        return status;
    struct flight left = {.shard = shard, .count = shard->unfinished};
    shard->unfinished = 0;
    return drain(&left);
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
        if (status == GYRE_OK)
            status = gyre_shard_hand_over(shard);
        if (status == GYRE_OK && shard->kept.writing.is_open)
            status = gyre_shard_write_checkpoint(shard);
        else if (status == GYRE_OK && is_checkpoint_due(shard, gyre_clock_ns()))
            status = gyre_shard_begin_checkpoint(shard);
    }
    return status == GYRE_OK ? gyre_shard_publish(shard) : status;
}
