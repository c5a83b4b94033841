/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps when requests were taken (taken.h). No lock. */
#include "core/stages/taken.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/queue/state.h"
#include "core/ring/ready.h"
#include "core/ring/ring.h"
#include "core/stages/log.h"

/* What was noted of the request in a slot. A sender reads it while the thread of the worker's keeper notes. */
struct noted {
    uint64_t number; /* index of the request, plus 1; 0: nothing was noted */
    uint64_t taken_ns;
};

struct taken {
    struct gyre_log_companion companion; /* first: the log has its address */
    const gyre_flow *flows;              /* a worker process writes them */
    struct noted *noted;                 /* a place for each slot */
    uint64_t *saved;                     /* a time for each entry of the log */
};

static struct taken *taken_of(const gyre_queue *queue)
{
    return (struct taken *)(void *)gyre_log_of(queue)->companion;
}

/* What the flow of the request says; 0: it is another request's, or was cleared. */
static uint64_t time_in_flow(const struct taken *taken, uint64_t place, uint64_t index)
{
    const gyre_flow *flow = &taken->flows[place];
    return __atomic_load_n(&flow->index, __ATOMIC_RELAXED) == index
               ? __atomic_load_n(&flow->started_ns, __ATOMIC_RELAXED)
               : 0;
}

/* Of a request in its slot. A flow is cleared after its time was noted, so one of both has it. */
static uint64_t time_in_slot(const gyre_queue *queue, const struct taken *taken, uint64_t index)
{
    const uint64_t place = index & gyre_ring_of(queue)->mask;
    const struct noted *noted = &taken->noted[place];
    const uint64_t in_flow = time_in_flow(taken, place, index);
    if (in_flow)
        return in_flow;
    /* acquire: pairs with the release of gyre_taken_note */
    return __atomic_load_n(&noted->number, __ATOMIC_ACQUIRE) == index + 1
               ? __atomic_load_n(&noted->taken_ns, __ATOMIC_RELAXED)
               : 0;
}

static void save(const gyre_queue *queue, uint64_t index)
{
    const struct taken *taken = taken_of(queue);
    taken->saved[index % gyre_log_of(queue)->count] = time_in_slot(queue, taken, index);
}

static void destroy(struct gyre_log_companion *companion)
{
    struct taken *taken = (struct taken *)(void *)companion;
    free(taken->noted);
    free(taken->saved);
    free(taken);
}

gyre_status gyre_taken_create(gyre_queue *queue, const gyre_flow *flows)
{
    struct gyre_queue_log *log = gyre_log_of(queue);
    struct taken *taken = calloc(1, sizeof *taken);
    if (taken)
        *taken = (struct taken){.companion = {.save = save, .destroy = destroy},
                                .flows = flows,
                                .noted = calloc(gyre_ring_of(queue)->capacity, sizeof *taken->noted),
                                .saved = calloc(log->count, sizeof *taken->saved)};
    if (taken && taken->noted && taken->saved) {
        log->companion = &taken->companion;
        return GYRE_OK;
    }
    if (taken)
        destroy(&taken->companion);
    return gyre_error_set(GYRE_EXHAUSTED, "no memory to note when requests are taken");
}

void gyre_taken_note(const gyre_queue *queue)
{
    const struct taken *taken = taken_of(queue);
    for (uint64_t place = 0; taken && place < gyre_ring_of(queue)->capacity; place++) {
        const uint64_t index = __atomic_load_n(&taken->flows[place].index, __ATOMIC_RELAXED),
                       taken_ns = __atomic_load_n(&taken->flows[place].started_ns, __ATOMIC_RELAXED);
        if (!taken_ns)
            continue;
        __atomic_store_n(&taken->noted[place].taken_ns, taken_ns, __ATOMIC_RELAXED);
        __atomic_store_n(&taken->noted[place].number, index + 1, __ATOMIC_RELEASE);
    }
}

static bool is_completed(const gyre_queue *queue, uint64_t index)
{
    return index < gyre_received(queue) || gyre_reply_ready(gyre_ring_of(queue), index);
}

void gyre_taken_forget(const gyre_queue *queue)
{
    const struct taken *taken = taken_of(queue);
    for (uint64_t place = 0; taken && place < gyre_ring_of(queue)->capacity; place++) {
        struct noted *noted = &taken->noted[place];
        if (noted->number && !is_completed(queue, noted->number - 1))
            __atomic_store_n(&noted->number, 0, __ATOMIC_RELAXED);
    }
}

uint64_t gyre_taken_ns(const gyre_queue *queue, uint64_t index)
{
    const struct gyre_queue_log *log = gyre_log_of(queue);
    const struct taken *taken = taken_of(queue);
    if (!taken)
        return 0;
    const uint64_t in_slot = time_in_slot(queue, taken, index);
    /* pairs with the release of a sender that uses the slot anew: then the log has it */
    const bool is_saved = __atomic_load_n(&log->saved, __ATOMIC_ACQUIRE) > index;
    const uint64_t told = is_saved ? taken->saved[index % log->count] : in_slot;
    return told <= gyre_clock_ns() ? told : 0; /* else a worker process wrote over it */
}
