/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads the checkpoints of a pipeline (lead.h). Requests are handled again in the thread of the worker's keeper, before the device sees
 * their queue. Lock: kernel->lock for `entry` and for counts that other threads read, not while the device works.
 */
#include "core/durability/lead.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/dispatch/dispatch.h"
#include "core/durability/checkpoint_life.h"
#include "core/kernel/kernel_queue.h"
#include "core/queue/bells.h"
#include "core/queue/end.h"
#include "core/queue/progress.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/ring/ready.h"
#include "core/stages/log.h"
#include "core/stages/seals.h"
#include "gyre/waiting.h"

#define LOOK_NS UINT64_C(20000)

/* ---- the queues of a checkpoint ---- */

/* Of the list from `queue` on: the first that the kernel has to itself; behind the last one the entry. */
static gyre_queue *own_from(const struct gyre_checkpoints *checkpoints, gyre_queue *queue)
{
    while (queue && gyre_view_of(queue)->of_pipeline)
        queue = gyre_view_of(queue)->next;
    return queue ? queue : checkpoints->entry;
}

gyre_queue *gyre_lead_first(const struct gyre_checkpoints *checkpoints, const gyre_kernel *kernel)
{
    return own_from(checkpoints, gyre_kernel_first_queue(kernel));
}

gyre_queue *gyre_lead_next(const struct gyre_checkpoints *checkpoints, const gyre_queue *queue)
{
    return queue == checkpoints->entry ? NULL : own_from(checkpoints, gyre_view_of(queue)->next);
}

/* ---- leading ---- */

static gyre_status make_log(struct gyre_checkpoints *checkpoints, gyre_queue *entry, uint64_t bytes)
{
    const gyre_status status = gyre_queue_log_create(entry, bytes);
    if (status != GYRE_OK)
        return status;
    gyre_log_of(entry)->ask = gyre_checkpoints_ring;
    gyre_log_of(entry)->ask_context = checkpoints;
    gyre_queue_log_restart(entry, checkpoints->every_messages);
    return GYRE_OK;
}

gyre_status gyre_lead(struct gyre_checkpoints *checkpoints, gyre_queue *entry, uint64_t bytes)
{
    const gyre_status status = entry ? make_log(checkpoints, entry, bytes) : GYRE_OK;
    if (status != GYRE_OK)
        return status;
    if (checkpoints->entry)
        gyre_queue_log_destroy(checkpoints->entry);
    checkpoints->entry = entry;
    return GYRE_OK;
}

/* ---- handling again ---- */

struct repeat {
    struct gyre_checkpoints *checkpoints;
    gyre_queue *source, *target;
    uint64_t index, end; /* in the source: what comes next, and the end of what is handled again */
    uint64_t under_way;
    struct gyre_logged_request request;
    bool (*watch)(void *context, uint64_t deadline_ns);
    void *context;
};

static void empty(gyre_queue *target)
{
    gyre_view view;
    size_t found = 0;
    gyre_error_hold();
    gyre_queue_complete_unhandled(target);
    while (gyre_peek(target, &view, 1, &found, GYRE_NO_WAIT) == GYRE_OK && found)
        gyre_release_views(target, 1);
    gyre_error_let_go();
    gyre_queue_set_claim(target, gyre_queue_next_index(target));
}

bool gyre_lead_prepare(const struct gyre_checkpoints *checkpoints, gyre_queue *target)
{
    uint64_t index = 0;
    const gyre_queue *entry = checkpoints->entry;
    struct gyre_logged_request request = {.payload = malloc(gyre_ring_of(entry)->request_size + 1)};
    const bool found =
        !request.payload || gyre_queue_log_next(entry, &index, gyre_queue_log_end(entry), &request);
    free(request.payload);
    if (found) /* without memory: gyre_lead_repeat says so */
        empty(target);
    return found;
}

/* Completes request `index` of the source, which has no completion, as request `again` of the target was. */
static void hand_over(const struct repeat *repeat, uint64_t index, uint64_t again)
{
    const struct gyre_ring *from = gyre_ring_of(repeat->target), *to = gyre_ring_of(repeat->source);
    const gyre_slot *reply = gyre_reply_slot(from, again);
    gyre_slot *out = gyre_reply_slot(to, index);
    const uint32_t most = from->reply_size > sizeof(gyre_failure) ? from->reply_size : sizeof(gyre_failure),
                   told = __atomic_load_n(&reply->length, __ATOMIC_RELAXED); /* a worker may write there */
    const uint32_t length = told < most ? told : most;
    memcpy(out + 1, reply + 1, length);
    out->length = length;
    out->info = reply->info;
    if (to->slots.sealed)
        gyre_seals_reply(repeat->source, index);
    __atomic_store_n(&out->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with gyre_reply_ready */
    gyre_bell_ring(&to->shared->device.bell, INT_MAX);
}

/* Drops the completions that came. `one`: the only one goes to request *one. */
static uint64_t take_completions(const struct repeat *repeat, const uint64_t *one)
{
    gyre_view views[64];
    uint64_t count = 0;
    size_t found = 0;
    gyre_error_hold();
    while (gyre_peek(repeat->target, views, sizeof views / sizeof views[0], &found, GYRE_NO_WAIT) ==
           GYRE_OK) {
        if (one && found)
            hand_over(repeat, *one, views[0].index);
        gyre_release_views(repeat->target, found);
        count += found;
    }
    gyre_error_let_go();
    return count;
}

/* LOST when the device died meanwhile. */
static gyre_status await_completions(struct repeat *repeat, uint64_t most_left, const uint64_t *one)
{
    while (repeat->under_way > most_left) {
        const uint64_t came = take_completions(repeat, one);
        repeat->under_way -= came;
        if (!came && !repeat->watch(repeat->context, gyre_clock_ns() + LOOK_NS))
            return gyre_error_set(
                GYRE_LOST,
                "the worker process of pipeline queue '%s' died while its requests were handled again",
                gyre_queue_name(repeat->source));
    }
    return GYRE_OK;
}

/* Sends `request`, when there is room. */
static gyre_status put(struct repeat *repeat, const uint64_t *one)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && !gyre_queue_put_logged(repeat->target, &repeat->request)) {
        if (!repeat->under_way)
            return gyre_error_set(GYRE_LOST, "queue '%s' is lost while its requests are handled again",
                                  gyre_queue_name(repeat->source));
        status = await_completions(repeat, repeat->under_way - 1, one);
    }
    if (status != GYRE_OK)
        return status;
    repeat->under_way++;
    gyre_queue_ring_doorbell(repeat->target, 1);
    return GYRE_OK;
}

static void say_alone(gyre_queue *source, bool alone, uint64_t again)
{
    gyre_view_for(source)->repeats_one = alone;
    gyre_view_for(source)->repeated = again;
}

/* A request without a completion goes alone: when its worker dies, it was this one. */
static gyre_status repeat_alone(struct repeat *repeat, uint64_t index)
{
    gyre_status status = await_completions(repeat, 0, NULL);
    if (status != GYRE_OK)
        return status;
    (void)gyre_queue_log_read(repeat->source, index, &repeat->request);
    repeat->request.header.deadline_ns = 0;
    say_alone(repeat->source, true, gyre_queue_next_index(repeat->target));
    status = put(repeat, &index);
    if (status == GYRE_OK)
        status = await_completions(repeat, 0, &index);
    if (status == GYRE_OK) /* else who looks for the cause of the death sees it */
        say_alone(repeat->source, false, 0);
    return status;
}

static gyre_status repeat_one(struct repeat *repeat, uint64_t index)
{
    if (index >= gyre_received(repeat->source) && !gyre_reply_ready(gyre_ring_of(repeat->source), index))
        return repeat_alone(repeat, index);
    uint64_t found = index;
    if (!gyre_queue_log_next(repeat->source, &found, index + 1, &repeat->request))
        return GYRE_OK; /* the checkpoint covers it, or no handler ran for it */
    if (GYRE_FAULT_POINT(RECOVERY_REPLAY))
        gyre_dispatch_kill(repeat->checkpoints->device, "a fault point said so");
    const gyre_status status = put(repeat, NULL);
    __atomic_fetch_add(&repeat->checkpoints->replayed, status == GYRE_OK, __ATOMIC_RELAXED);
    return status;
}

static gyre_status check_whole(const struct repeat *repeat)
{
    if (!gyre_queue_log_is_damaged(repeat->source, repeat->end))
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "what the stages of a pipeline kept cannot be brought back: a worker process overwrote requests of queue '%s' "
        "that would have to be handled again since the last checkpoint",
        gyre_queue_name(repeat->source));
}

gyre_status gyre_lead_repeat(struct gyre_checkpoints *checkpoints, gyre_queue *target,
                             bool (*watch)(void *context, uint64_t deadline_ns), void *context)
{
    struct repeat repeat = {
        .checkpoints = checkpoints,
        .source = checkpoints->entry,
        .target = target,
        .watch = watch,
        .context = context,
        .request = {.payload = malloc(gyre_ring_of(checkpoints->entry)->request_size + 1)}};
    if (!repeat.request.payload)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to handle requests again");
    repeat.end = gyre_queue_log_end(repeat.source);
    gyre_status status = check_whole(&repeat);
    const uint64_t first = __atomic_load_n(&gyre_log_of(repeat.source)->base.first, __ATOMIC_ACQUIRE);
    for (uint64_t index = first; status == GYRE_OK && index < repeat.end; index++)
        status = repeat_one(&repeat, index);
    if (status == GYRE_OK)
        status = await_completions(&repeat, 0, NULL);
    free(repeat.request.payload);
    return status;
}
