/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call to a kernel that keeps its requests goes through three threads: client, relay, worker. Where relay and worker share
 * a processor, each call would wait for two switches between them. So while clients call, one request at a time, the relay's
 * thread lends its turns (errand.h) to the worker, which takes them between two looks at its queues. A stream is carried by
 * the relay's thread again, because it needs both threads where there are processors for both. Under relay->lock, which the
 * worker only tries: it must not wait for a thread that waits for the worker.
 *
 * A queue with a journal lends nothing: its relay also waits for the disk.
 */
#include "core/attach/relay_lent.h"

#include "core/attach/relay_back.h"
#include "core/attach/relay_ring.h"
#include "core/queue/state.h"

enum { CALM_TURNS = 64 /* so many turns with one request at most are no stream */ };
/* A thread of the device that took no turn for so long is inside a handler: the relay's thread looks itself. */
#define SILENCE_NS UINT64_C(5000000)

static bool is_ending(const struct gyre_relay *relay)
{
    return __atomic_load_n(&relay->stop, __ATOMIC_ACQUIRE) || gyre_queue_closed(relay->target) ||
           gyre_queue_lost(relay->target);
}

/* Takes one request at most, when none is under way. *more: there are others. */
static bool take_one(struct gyre_relay *relay, bool *more)
{
    uint64_t under_way = gyre_relay_under_way(relay), taken = 0;
    for (struct gyre_relay_ring *ring = relay->rings; ring; ring = ring->next) {
        if (!gyre_relay_has_next(ring))
            continue;
        if (!under_way && !taken)
            taken = gyre_relay_take(relay, ring, 1);
        *more = *more || under_way || gyre_relay_has_next(ring);
    }
    return taken != 0;
}

static bool take_turn(void *owner)
{
    struct gyre_relay *relay = owner;
    bool more = false;
    if (pthread_mutex_trylock(&relay->lock) != 0)
        return false;
    relay->held = false;
    bool worked = gyre_relay_carry_back(relay, true);
    worked = take_one(relay, &more) || worked;
    worked = gyre_relay_tell(relay) || worked;
    if (more || relay->held || is_ending(relay))
        gyre_errand_recall(relay->errand);
    pthread_mutex_unlock(&relay->lock);
    return worked;
}

bool gyre_relay_lend(struct gyre_relay *relay)
{
    if (relay->calm < CALM_TURNS || gyre_view_of(relay->target)->durable ||
        !gyre_errand_lend(relay->errand, take_turn, relay))
        return false;
    gyre_errand_await(relay->errand, SILENCE_NS);
    gyre_errand_take_back(relay->errand, relay);
    relay->calm = 0;
    return true;
}
