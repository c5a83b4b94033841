/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits until one of several queues has a completion (wait_any.h): spins, yields, sleeps, by the strategy of the first queue.
 * Takes no lock of a queue. One system call sleeps at all bells at once. Where Linux has no such call, or a device rings no
 * bell, the sleep is a row of short naps.
 */
#include "core/queue/wait_any.h"

#include <errno.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/libc.h"
#include "core/queue/label.h"
#include "core/queue/state.h"
#include "core/queue/strategy.h"
#include "core/queue/wait.h"
#include "core/ring/ring_message.h"
#include "gyre/waiting.h"

enum gyre_answer gyre_queue_ask(const gyre_queue *queue)
{
    uint64_t cursor = gyre_received(queue);
    const int reply = gyre_wait_reply(queue, cursor);
    if (reply > 0 && gyre_wait_turn(queue, cursor))
        return GYRE_ANSWER_READY;
    if (reply < 0 || gyre_queue_abandoned(queue))
        return GYRE_ANSWER_CLOSED;
    if (gyre_queue_lost(queue))
        return GYRE_ANSWER_LOST;
    return reply > 0 ? GYRE_ANSWER_HELD : GYRE_ANSWER_EMPTY;
}

/* Looks at all queues: OK, AGAIN, CLOSED or LOST. *naps: no bell rings for an event in one of them, so the wait has to nap. */
static gyre_status group_look(const struct gyre_queue_group *group, bool *naps)
{
    uint32_t closed = 0, lost = 0;
    *naps = false;
    if (__atomic_load_n(group->closing, __ATOMIC_SEQ_CST))
        return GYRE_CLOSED;
    for (uint32_t i = 0; i < group->count; i++) {
        enum gyre_answer answer = gyre_queue_ask(group->queues[i]);
        if (answer == GYRE_ANSWER_READY)
            return GYRE_OK;
        closed += answer == GYRE_ANSWER_CLOSED;
        lost += answer == GYRE_ANSWER_LOST;
        *naps |= answer == GYRE_ANSWER_HELD || !group->queues[i]->ways.device_wakes;
    }
    if (closed == group->count)
        return GYRE_CLOSED;
    return closed + lost == group->count ? GYRE_LOST : GYRE_AGAIN;
}

/* Sleeps until a bell differs from its `seen` value, or until the deadline. May return earlier without a reason. */
static void sleep_on(const struct gyre_queue_group *group, const uint32_t *seen, uint64_t deadline_ns)
{
#if defined(SYS_futex_waitv) && defined(FUTEX_32)
    struct futex_waitv bells[GYRE_QUEUES_MAX];
    struct timespec until = gyre_clock_timespec(deadline_ns);
    for (uint32_t i = 0; i < group->count; i++)
        bells[i] = (struct futex_waitv){.val = seen[i],
                                        .uaddr = (uintptr_t)&group->queues[i]->ring.shared->device.bell,
                                        .flags = FUTEX_32};
    if (syscall(SYS_futex_waitv, bells, group->count, 0, deadline_ns == UINT64_MAX ? NULL : &until,
                CLOCK_MONOTONIC) >= 0 ||
        (errno != ENOSYS && errno != EPERM && errno != EINVAL))
        return;
#else
    (void)group, (void)seen;
#endif
    gyre_nap(deadline_ns);
}

static void group_announce(const struct gyre_queue_group *group, uint32_t by)
{
    /* `by` is 1, or UINT32_MAX, which wraps and so takes the 1 back */
    for (uint32_t i = 0; i < group->count; i++)
        __atomic_fetch_add(&group->queues[i]->ring.shared->host.waiting, by, __ATOMIC_SEQ_CST);
}

static gyre_status look_at_group(const void *context)
{
    return gyre_queue_group_look(context);
}

static gyre_status group_park(const void *context, uint64_t deadline_ns)
{
    const struct gyre_queue_group *group = context;
    gyre_status status = GYRE_AGAIN;
    group_announce(group, 1);
    const uint64_t parked_ns = gyre_clock_ns();
    gyre_barrier_heavy(group->queues[0]->ways.light_waits);
    while (status == GYRE_AGAIN) {
        const uint64_t looked_ns = gyre_clock_ns();
        uint32_t seen[GYRE_QUEUES_MAX];
        bool naps;
        for (uint32_t i = 0; i < group->count; i++) /* before the look: pairs with the ringer */
            seen[i] = __atomic_load_n(&group->queues[i]->ring.shared->device.bell, __ATOMIC_ACQUIRE);
        status = group_look(group, &naps);
        if (status != GYRE_AGAIN)
            break;
        if (looked_ns >= deadline_ns)
            status = GYRE_TIMEOUT;
        else if (naps)
            gyre_nap(deadline_ns);
        else
            sleep_on(group, seen, gyre_park_until(parked_ns, looked_ns, deadline_ns));
    }
    group_announce(group, UINT32_MAX);
    return status;
}

/* Sets the error of the first ring that lost its device or, when all were closed in order, of the first ring. */
static gyre_status tell_ended(const struct gyre_queue_group *group, gyre_status status)
{
    uint32_t gone = 0;
    if (__atomic_load_n(group->closing, __ATOMIC_SEQ_CST))
        return gyre_error_set(status, "the %u rings are being closed", group->count);
    while (gone < group->count && !gyre_queue_gone(group->queues[gone]))
        gone++;
    status = gyre_queue_tell_ended(group->queues[gone < group->count ? gone : 0], status);
    return gyre_error_add(status, "all %u rings ended", group->count);
}

gyre_status gyre_queue_wait_any(const struct gyre_queue_group *group, uint64_t deadline_ns)
{
    const struct gyre_strategy strategy = {.idle = group->queues[0]->ways.idle,
                                           .spin_turns = group->queues[0]->ways.spin_turns,
                                           .deadline_ns = deadline_ns,
                                           .look = look_at_group,
                                           .park = group_park,
                                           .context = group};
    gyre_status status = gyre_queue_group_look(group);
    /* the wait counts once in the sum over the rings, so any one of them may count it */
    if (status == GYRE_AGAIN) {
        __atomic_fetch_add(&group->queues[0]->consumer.waits, 1, __ATOMIC_RELAXED);
        status = gyre_strategy_wait(&strategy);
    }
    switch (status) {
    case GYRE_TIMEOUT:
        gyre_error_set(status, "the deadline passed while waiting for one of %u rings", group->count);
        return gyre_error_add_overdue(status, deadline_ns);
    case GYRE_LOST:
    case GYRE_CLOSED:
        return tell_ended(group, status);
    default:
        return status;
    }
}

bool gyre_queue_has_completion(const gyre_queue *queue)
{
    return gyre_queue_ask(queue) == GYRE_ANSWER_READY;
}

gyre_status gyre_queue_group_look(const struct gyre_queue_group *group)
{
    bool naps;
    return group_look(group, &naps);
}
