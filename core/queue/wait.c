/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits at a queue (wait.h), by the loops of strategy.h, and puts the waiting thread to sleep.
 *
 * No lock is held during a wait. A thread that parks announces itself and then runs a heavy barrier, so that the other side
 * needs no fence on its fast path: see waiting.h.
 */
#include "core/queue/wait.h"

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/queue/label.h"
#include "core/queue/line.h"
#include "core/queue/mark.h"
#include "core/queue/progress.h"
#include "core/queue/side.h"
#include "core/queue/strategy.h"
#include "core/ring/ring_message.h"

#define LOST_LOOK_NS UINT64_C(100000000)

/* False: the device wrote a completion without a request. */
static bool was_sent(const gyre_queue *queue, uint64_t index)
{
    return !queue->ways.device_lies || index < __atomic_load_n(&queue->producer.sending, __ATOMIC_RELAXED);
}

bool gyre_queue_is_completed(const gyre_queue *queue, uint64_t index)
{
    return gyre_reply_ready(&queue->ring, index) && was_sent(queue, index);
}

int gyre_wait_reply(const gyre_queue *queue, uint64_t argument)
{
    if (gyre_queue_is_completed(queue, argument) || gyre_received(queue) > argument)
        return 1;
    if (!gyre_queue_closed(queue) || gyre_line_waits(queue))
        return 0; /* acquire: messages that have left the line are counted below */
    return argument >= gyre_queue_next_index(queue) ? -1 : 0;
}

int gyre_wait_turn(const gyre_queue *queue, uint64_t argument)
{
    if (gyre_received(queue) != argument)
        return 1;
    if (gyre_is_peeking(queue))
        return 0;
    return gyre_mark_get(queue, argument) != GYRE_MARK_CALL;
}

static gyre_status give_up(const gyre_queue *queue, gyre_status status)
{
    char label[GYRE_LABEL_SIZE], away[GYRE_AWAY_SIZE];
    if (status != GYRE_TIMEOUT)
        return gyre_queue_tell_ended(queue, status);
    return gyre_error_set(status, "the deadline passed while waiting for %s%s",
                          gyre_queue_label(queue, label, sizeof label), gyre_queue_away_text(queue, away));
}

struct waiter {
    gyre_queue *queue;
    gyre_wait_condition condition;
    uint64_t argument;
    uint32_t *bell, *announce;
};

/* Looks at the condition. OK: it holds. AGAIN: go on waiting. */
static gyre_status waiter_look(const void *context)
{
    const struct waiter *waiter = context;
    int answer = waiter->condition(waiter->queue, waiter->argument);
    if (answer)
        return answer > 0 ? GYRE_OK : GYRE_CLOSED;
    if (gyre_queue_abandoned(waiter->queue))
        return GYRE_CLOSED;
    return gyre_queue_lost(waiter->queue) ? GYRE_LOST : GYRE_AGAIN;
}

/*
 * Until when a thread sleeps at most. If a device dies in this process, no worker's death is noticed, and at most the device's
 * own bell rings. So a thread that sleeps at the other bell looks now and then.
 */
static uint64_t waiter_until(const struct waiter *waiter, uint64_t now_ns, uint64_t deadline_ns)
{
    const gyre_queue *queue = waiter->queue;
    const bool looks = waiter->bell == &queue->state.credit_bell && !queue->ways.device_returns;
    const uint64_t next_ns = now_ns + LOST_LOOK_NS;
    return looks && next_ns < deadline_ns ? next_ns : deadline_ns;
}

static gyre_status waiter_park(const void *context, uint64_t deadline_ns)
{
    const struct waiter *waiter = context;
    gyre_queue *queue = waiter->queue;
    gyre_status status = GYRE_AGAIN;
    __atomic_fetch_add(waiter->announce, 1, __ATOMIC_SEQ_CST);
    const uint64_t parked_ns = gyre_clock_ns();
    gyre_barrier_heavy(queue->ways.light_waits);
    while (status == GYRE_AGAIN) {
        const uint64_t looked_ns = gyre_clock_ns();
        uint32_t seen =
            __atomic_load_n(waiter->bell, __ATOMIC_ACQUIRE); /* before the look: pairs with the ringer */
        status = waiter_look(waiter);
        if (status != GYRE_AGAIN)
            break;
        (void)GYRE_FAULT_POINT(RING_PARK);
        if (looked_ns >= deadline_ns)
            status = GYRE_TIMEOUT;
        else if (queue->ways.device_wakes || waiter->bell == &queue->state.credit_bell)
            gyre_futex_wait(
                waiter->bell, seen,
                gyre_park_until(parked_ns, looked_ns, waiter_until(waiter, looked_ns, deadline_ns)));
        else
            gyre_nap(deadline_ns); /* the device rings no bell */
    }
    __atomic_fetch_sub(waiter->announce, 1, __ATOMIC_SEQ_CST);
    return status;
}

gyre_status gyre_queue_wait(gyre_queue *queue, gyre_wait_condition condition, uint64_t argument,
                            enum gyre_wait_bell bell, uint64_t deadline_ns)
{
    struct waiter waiter = {.queue = queue, .condition = condition, .argument = argument};
    bool device = bell == GYRE_BELL_DEVICE;
    waiter.bell = device ? &queue->ring.shared->device.bell : &queue->state.credit_bell;
    waiter.announce = device ? &queue->ring.shared->host.waiting : &queue->state.credit_waiters;
    const struct gyre_strategy strategy = {.idle = queue->ways.idle,
                                           .spin_turns = queue->ways.spin_turns,
                                           .deadline_ns = deadline_ns,
                                           .look = waiter_look,
                                           .park = waiter_park,
                                           .context = &waiter};
    gyre_status status = gyre_strategy_wait(&strategy);
    return status == GYRE_OK ? GYRE_OK : gyre_error_add_overdue(give_up(queue, status), deadline_ns);
}

gyre_status gyre_queue_look(gyre_queue *queue, gyre_wait_condition condition, uint64_t argument)
{
    const struct waiter waiter = {.queue = queue, .condition = condition, .argument = argument};
    gyre_status status = waiter_look(&waiter);
    if (status == GYRE_CLOSED || status == GYRE_LOST)
        return give_up(queue, status);
    return gyre_error_set_text(GYRE_AGAIN,
                               "no completion has come yet; receive again later, or with a deadline");
}
