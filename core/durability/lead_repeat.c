/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles requests of a pipeline again (lead.h), in the thread of the worker's keeper, before the device sees their queues. Requests of
 * each queue go in its order; of several queues the one that was taken first goes first (core/stages/taken.h). No lock: a queue is led
 * under the lock of the pipeline, which that thread has.
 */
#include "core/durability/lead.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/dispatch/dispatch.h"
#include "core/queue/bells.h"
#include "core/queue/progress.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/ring/ready.h"
#include "core/stages/again.h"
#include "core/stages/log.h"
#include "core/stages/taken.h"

#define LOOK_NS UINT64_C(20000)

/* ---- the queues ---- */

/* A queue whose requests are handled again. */
struct source {
    gyre_queue *queue, *target;
    uint64_t index, end; /* what comes next, and the end of what has to be handled again */
    uint64_t taken_ns;   /* when request `index` was taken; UINT64_MAX: nobody took it */
    uint64_t last_ns; /* when the one before it was: a device takes the requests of a queue in their order */
};

struct repeat {
    struct gyre_checkpoints *checkpoints;
    struct source sources[GYRE_ENTRIES_MAX];
    int count;
    gyre_queue *target; /* by which requests are under way */
    uint64_t under_way;
    struct gyre_logged_request request;
    bool (*watch)(void *context, uint64_t deadline_ns);
    void *context;
};

/* Whether a sender has sent the request. */
static bool is_sent(const gyre_queue *queue, uint64_t index)
{
    /* acquire: pairs with the sender's release */
    return index < gyre_queue_next_index(queue) &&
           __atomic_load_n(&gyre_request_slot(gyre_ring_of(queue), index)->sequence, __ATOMIC_ACQUIRE) ==
               index + 1;
}

/* Finds out when the next request was taken. One behind `end` has no completion, and others may have been taken behind it. */
static void look_at_next(struct source *source)
{
    const bool has_to = source->index < source->end;
    const uint64_t told =
        has_to || is_sent(source->queue, source->index) ? gyre_taken_ns(source->queue, source->index) : 0;
    if (told && told >= source->last_ns)
        source->taken_ns = source->last_ns = told;
    else
        source->taken_ns = has_to ? source->last_ns : UINT64_MAX;
}

static void add_sources(struct repeat *repeat)
{
    for (gyre_queue *queue = repeat->checkpoints->entry; queue; queue = gyre_view_of(queue)->led_next) {
        struct source *source = &repeat->sources[repeat->count++];
        *source = (struct source){.queue = queue,
                                  .target = gyre_view_of(queue)->repeater,
                                  .index = __atomic_load_n(&gyre_log_of(queue)->base.first, __ATOMIC_ACQUIRE),
                                  .end = gyre_queue_log_end(queue)};
        look_at_next(source);
    }
}

/* The queue whose next request was taken first; NULL: everything that has to be handled again was. */
static struct source *find_first(struct repeat *repeat)
{
    struct source *first = NULL;
    bool is_left = false;
    for (int i = 0; i < repeat->count; i++) {
        struct source *source = &repeat->sources[i];
        is_left = is_left || source->index < source->end;
        if (source->taken_ns != UINT64_MAX && (!first || source->taken_ns < first->taken_ns))
            first = source;
    }
    return is_left ? first : NULL;
}

static uint32_t find_request_size(const struct gyre_checkpoints *checkpoints)
{
    uint32_t size = 0;
    for (const gyre_queue *queue = checkpoints->entry; queue; queue = gyre_view_of(queue)->led_next)
        if (gyre_ring_of(queue)->request_size > size)
            size = gyre_ring_of(queue)->request_size;
    return size;
}

/* ---- before ---- */

static bool has_something(const gyre_queue *queue, struct gyre_logged_request *request)
{
    uint64_t index = 0;
    return gyre_queue_log_next(queue, &index, gyre_queue_log_end(queue), request);
}

/* Whether the device would handle a request again that has a completion, since it does not pass over such. */
static bool is_overtaken(const struct gyre_checkpoints *checkpoints, const gyre_queue *queue)
{
    return !gyre_dispatch_device_info(checkpoints->device)->can_skip &&
           gyre_queue_end_of_overtaken(queue) != gyre_queue_first_unanswered(queue);
}

/* From here on the device takes what has no completion. */
static void forget_taken(const struct gyre_checkpoints *checkpoints)
{
    for (const gyre_queue *queue = checkpoints->entry; queue; queue = gyre_view_of(queue)->led_next)
        gyre_taken_forget(queue);
}

bool gyre_lead_prepare(const struct gyre_checkpoints *checkpoints)
{
    struct gyre_logged_request request = {.payload = malloc(find_request_size(checkpoints) + 1)};
    bool found = !request.payload; /* without memory: gyre_lead_repeat says so */
    for (const gyre_queue *queue = checkpoints->entry; queue; queue = gyre_view_of(queue)->led_next) {
        gyre_taken_note(queue);
        found = found || has_something(queue, &request) || is_overtaken(checkpoints, queue);
    }
    free(request.payload);
    for (const gyre_queue *queue = checkpoints->entry; found && queue; queue = gyre_view_of(queue)->led_next)
        gyre_again_empty(gyre_view_of(queue)->repeater);
    if (!found)
        forget_taken(checkpoints);
    return found;
}

/* ---- handling again ---- */

/* Drops the completions that came. `one`: the only one goes to the request that comes next there. */
static uint64_t take_completions(const struct repeat *repeat, const struct source *one)
{
    gyre_view views[64];
    uint64_t count = 0;
    size_t found = 0;
    gyre_error_hold();
    while (gyre_peek(repeat->target, views, sizeof views / sizeof views[0], &found, GYRE_NO_WAIT) ==
           GYRE_OK) {
        if (one && found)
            gyre_again_hand_over(one->target, views[0].index, one->queue, one->index);
        gyre_release_views(repeat->target, found);
        count += found;
    }
    gyre_error_let_go();
    return count;
}

/* LOST when the device died meanwhile. */
static gyre_status await_completions(struct repeat *repeat, uint64_t most_left, const struct source *one)
{
    while (repeat->under_way > most_left) {
        const uint64_t came = take_completions(repeat, one);
        repeat->under_way -= came;
        if (!came && !repeat->watch(repeat->context, gyre_clock_ns() + LOOK_NS))
            return gyre_error_set(
                GYRE_LOST,
                "the worker process of pipeline queue '%s' died while its requests were handled again",
                gyre_queue_name(repeat->checkpoints->entry));
    }
    return GYRE_OK;
}

/* Sends `request`, when there is room. */
static gyre_status put(struct repeat *repeat, const struct source *one)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && !gyre_queue_put_logged(repeat->target, &repeat->request)) {
        if (!repeat->under_way)
            return gyre_error_set(GYRE_LOST, "queue '%s' is lost while its requests are handled again",
                                  gyre_queue_name(repeat->checkpoints->entry));
        status = await_completions(repeat, repeat->under_way - 1, one);
    }
    if (status != GYRE_OK)
        return status;
    repeat->under_way++;
    gyre_queue_ring_doorbell(repeat->target, 1);
    return GYRE_OK;
}

static void say_alone(gyre_queue *queue, bool alone, uint64_t again)
{
    gyre_view_for(queue)->repeats_one = alone;
    gyre_view_for(queue)->repeated = again;
}

/* A request without a completion goes alone: when its worker dies, it was this one. */
static gyre_status repeat_alone(struct repeat *repeat, const struct source *source)
{
    gyre_status status = await_completions(repeat, 0, NULL);
    if (status != GYRE_OK)
        return status;
    (void)gyre_queue_log_read(source->queue, source->index, &repeat->request);
    repeat->request.header.deadline_ns = 0;
    say_alone(source->queue, true, gyre_queue_next_index(repeat->target));
    status = put(repeat, source);
    if (status == GYRE_OK)
        status = await_completions(repeat, 0, source);
    if (status == GYRE_OK) /* else who looks for the cause of the death sees it */
        say_alone(source->queue, false, 0);
    return status;
}

/* What went by another queue is completed first: between two queues there is no order. */
static gyre_status turn_to(struct repeat *repeat, gyre_queue *target)
{
    const gyre_status status = repeat->target == target ? GYRE_OK : await_completions(repeat, 0, NULL);
    repeat->target = target;
    return status;
}

static gyre_status repeat_next(struct repeat *repeat, const struct source *source)
{
    const gyre_queue *queue = source->queue;
    gyre_status status = turn_to(repeat, source->target);
    if (status != GYRE_OK)
        return status;
    if (source->index >= gyre_received(queue) && !gyre_reply_ready(gyre_ring_of(queue), source->index))
        return repeat_alone(repeat, source);
    uint64_t found = source->index;
    if (!gyre_queue_log_next(queue, &found, source->index + 1, &repeat->request))
        return GYRE_OK; /* the checkpoint covers it, or no handler ran for it */
    if (GYRE_FAULT_POINT(RECOVERY_REPLAY))
        gyre_dispatch_kill(repeat->checkpoints->device, "a fault point said so");
    status = put(repeat, NULL);
    __atomic_fetch_add(&repeat->checkpoints->replayed, status == GYRE_OK, __ATOMIC_RELAXED);
    return status;
}

static gyre_status check_whole(const struct source *source)
{
    if (!gyre_queue_log_is_damaged(source->queue, source->end))
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "what the stages of a pipeline kept cannot be brought back: a worker process overwrote requests of queue '%s' "
        "that would have to be handled again since the last checkpoint",
        gyre_queue_name(source->queue));
}

static gyre_status repeat_all(struct repeat *repeat)
{
    gyre_status status = GYRE_OK;
    add_sources(repeat);
    for (int i = 0; i < repeat->count && status == GYRE_OK; i++)
        status = check_whole(&repeat->sources[i]);
    for (struct source *next; status == GYRE_OK && (next = find_first(repeat)) != NULL;) {
        status = repeat_next(repeat, next);
        next->index++;
        look_at_next(next);
    }
    if (status == GYRE_OK)
        status = await_completions(repeat, 0, NULL);
    if (status == GYRE_OK)
        forget_taken(repeat->checkpoints);
    return status;
}

gyre_status gyre_lead_repeat(struct gyre_checkpoints *checkpoints,
                             bool (*watch)(void *context, uint64_t deadline_ns), void *context)
{
    struct repeat *repeat = calloc(1, sizeof *repeat);
    void *payload = malloc(find_request_size(checkpoints) + 1);
    gyre_status status = GYRE_OK;
    if (repeat && payload) {
        *repeat = (struct repeat){
            .checkpoints = checkpoints, .watch = watch, .context = context, .request = {.payload = payload}};
        status = repeat_all(repeat);
    } else {
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory to handle requests again");
    }
    free(payload);
    free(repeat);
    return status;
}
