/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles requests that were overtaken (overtaken.h), in the thread of the worker's keeper, before the device sees their queue. Each goes alone: when
 * a worker dies, it was this one. No lock: the caller has that of the pipeline.
 */
#include "core/kernel/overtaken.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/queue/bells.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/ring/ready.h"
#include "core/stages/again.h"

#define LOOK_NS UINT64_C(20000)

gyre_status gyre_node_set_repeater(gyre_queue *entry, gyre_queue *repeater)
{
    const uint32_t its = gyre_ring_of(entry)->slots.header_size,
                   first = gyre_ring_of(repeater)->slots.header_size;
    if (its != first)
        return gyre_error_set(
            GYRE_INVALID,
            "queue '%s' has headers of %u bytes, and all queues of this pipeline in a worker process have headers of one size, "
            "which is %u: set its header as that of the others",
            gyre_queue_name(entry), its, first);
    if (gyre_ring_of(entry)->request_size != gyre_ring_of(repeater)->request_size ||
        gyre_ring_of(entry)->reply_size != gyre_ring_of(repeater)->reply_size)
        return gyre_error_set(
            GYRE_INVALID,
            "queue '%s' has messages of %u and %u bytes, and those of its pipeline in a worker process have %u and %u: declare "
            "its messages as the handler has them",
            gyre_queue_name(entry), gyre_ring_of(entry)->request_size, gyre_ring_of(entry)->reply_size,
            gyre_ring_of(repeater)->request_size, gyre_ring_of(repeater)->reply_size);
    gyre_view_for(entry)->repeater = repeater;
    return GYRE_OK;
}

bool gyre_node_has_overtaken(const gyre_queue *entry)
{
    return gyre_queue_end_of_overtaken(entry) != gyre_queue_first_unanswered(entry);
}

void gyre_node_empty_repeater(gyre_queue *repeater)
{
    gyre_again_empty(repeater);
    gyre_node_hide_entry(repeater);
}

static gyre_status say_lost(const gyre_queue *entry)
{
    return gyre_error_set(
        GYRE_LOST,
        "the worker process of pipeline queue '%s' died while requests were handled that others had overtaken",
        gyre_queue_name(entry));
}

/* Waits for the one completion of the repeater, and hands it over. */
static gyre_status await_one(gyre_queue *entry, uint64_t index, const struct gyre_overtaken_calls *calls)
{
    gyre_queue *const repeater = gyre_view_of(entry)->repeater;
    gyre_view view;
    size_t found = 0;
    gyre_status status;
    while ((status = gyre_peek(repeater, &view, 1, &found, GYRE_NO_WAIT)) != GYRE_OK || !found) {
        if (status != GYRE_OK && status != GYRE_AGAIN && status != GYRE_TIMEOUT)
            gyre_dispatch_kill(gyre_view_of(entry)->kernel->dispatch, "it told what is no completion");
        if (!calls->watch(calls->context, gyre_clock_ns() + LOOK_NS))
            return say_lost(entry);
    }
    calls->settled(calls->context);
    gyre_again_hand_over(repeater, view.index, entry, index);
    gyre_release_views(repeater, 1);
    return GYRE_OK;
}

static gyre_status repeat_one(gyre_queue *entry, uint64_t index, struct gyre_logged_request *request,
                              const struct gyre_overtaken_calls *calls)
{
    gyre_queue *const repeater = gyre_view_of(entry)->repeater;
    if (!gyre_again_read(entry, index, request))
        return GYRE_OK;
    calls->begins(calls->context, entry, gyre_view_of(repeater)->entry_number, index);
    gyre_view_for(entry)->repeats_one = true;
    gyre_view_for(entry)->repeated = gyre_queue_next_index(repeater);
    if (!gyre_queue_put_logged(repeater, request))
        return say_lost(entry);
    gyre_queue_ring_doorbell(repeater, 1);
    gyre_error_hold();
    const gyre_status status = await_one(entry, index, calls);
    gyre_error_let_go();
    if (status != GYRE_OK) /* who looks for the cause of the death sees which one it was */
        return say_lost(entry);
    gyre_view_for(entry)->repeats_one = false;
    return GYRE_OK;
}

gyre_status gyre_node_repeat_overtaken(gyre_queue *entry, const struct gyre_overtaken_calls *calls)
{
    struct gyre_logged_request request = {.payload = malloc(gyre_ring_of(entry)->request_size + 1)};
    gyre_status status = GYRE_OK;
    if (!request.payload)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to handle requests again");
    const uint64_t end = gyre_queue_end_of_overtaken(entry);
    for (uint64_t i = gyre_queue_first_unanswered(entry); i < end && status == GYRE_OK; i++)
        if (!gyre_reply_ready(gyre_ring_of(entry), i))
            status = repeat_one(entry, i, &request, calls);
    free(request.payload);
    return status;
}
