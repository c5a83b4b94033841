/* SPDX-License-Identifier: Apache-2.0 */
/* Rings the bells of a queue (bells.h). Each look for sleepers pairs with a heavy barrier of the sleeper: see
 * gyre/waiting.h. */
#include "core/queue/bells.h"

#include <limits.h>

#include "core/queue/lent.h"
#include "core/queue/origin.h"
#include "gyre/waiting.h"

void gyre_queue_ring_doorbell(gyre_queue *queue, uint64_t count)
{
    gyre_control_region *control = queue->ring.control;
    gyre_barrier_light(queue->ring.light_sends); /* pairs with the worker's heavy barrier before it parks */
    if (__builtin_expect(__atomic_load_n(&control->device.parked, __ATOMIC_RELAXED) == 0, 1))
        return;
    if (__atomic_load_n(&queue->ways.quiet, __ATOMIC_RELAXED))
        return;
    if (queue->foreign.doorbell < 0)
        gyre_bell_ring(&control->doorbell.bell, count < INT_MAX ? (int)count : INT_MAX);
    else
        gyre_lent_ring(queue->foreign.doorbell);
}

void gyre_queue_tell_stages(gyre_queue *queue)
{
    for (size_t i = 0; queue->stages.tell[i]; i++)
        queue->stages.tell[i](queue);
}

void gyre_queue_ring_credit(gyre_queue *queue)
{
    gyre_barrier_light(queue->ways.light_waits); /* pairs with the heavy barrier in wait.c */
    if (__builtin_expect(queue->stages.tell[0] != NULL, 0))
        gyre_queue_tell_stages(queue); /* a sender that a stage holds up may not have announced its wait */
    if (__builtin_expect(__atomic_load_n(&queue->state.credit_waiters, __ATOMIC_RELAXED) == 0, 1))
        return;
    gyre_bell_ring(&queue->state.credit_bell, INT_MAX);
    gyre_origins_tell(queue); /* wakes a relay, which waits for room at the device's bell, too */
}
