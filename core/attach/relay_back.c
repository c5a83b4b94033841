/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies completions of the kernel's queue into the clients' rings, and gives the slots of the queue back (relay.h).
 * Runs under relay->lock, in the relay's thread. Must not give a slot back before the client was told that its
 * request is durable.
 */
#include "core/attach/relay_back.h"
#include "core/attach/relay_ring.h"
#include "core/queue/consumer.h"
#include "core/queue/mark.h"
#include "core/queue/origin.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/side.h"
#include "core/queue/state.h"
#include "core/queue/take.h"
#include "core/ring/ring.h"
#include "core/ring/ring_message.h"

#include "gyre/waiting.h"

enum { AHEAD = 8 }; /* how many reply slots ahead are prefetched */

/*
 * Whether the next life of the server need not deliver a completion. Its client must have been told that the request
 * is durable. Otherwise, if no server delivers the completion, the client takes the request for lost and may send it
 * again.
 */
static bool is_settled(const struct gyre_relay *relay, uint64_t index, const struct gyre_relay_place *place)
{
    if (place->ring && gyre_foreign_of(place->ring->queue)->tells_durable)
        return place->ring->durable.told > place->origin.index;
    return !gyre_view_of(relay->target)->durable ||
           __atomic_load_n(&gyre_log_of(relay->target)->durable, __ATOMIC_ACQUIRE) > index;
}

/* Whether a completion whose client is not there waits no longer: its client has no name, or was away too long. */
static bool is_let_go(const struct gyre_relay_place *place, uint64_t now)
{
    return !(place->origin.client & GYRE_ORIGIN_NAMED) || now >= place->until_ns;
}

/*
 * Gives a slot back. Under the queue's consumer lock: the holder of this lock steps over the slot when it gives the
 * lock back.
 */
static void give_back(struct gyre_relay *relay, uint64_t index, struct gyre_relay_place *place)
{
    relay->absent -= !place->ring;
    gyre_replies_taken(relay->target, index, index + 1);
    place->request = 0;
    gyre_mark_set_locked(relay->target, index, GYRE_MARK_DONE);
}

/*
 * Whether the request is done with: its completion is there, nobody waits for it, and its client knows what is
 * durable.
 */
static bool is_over(const struct gyre_relay *relay, uint64_t index, uint64_t now)
{
    const struct gyre_relay_place *place = gyre_relay_place(relay, index);
    const bool wanted = place->ring ? !place->given : !is_let_go(place, now);
    return !wanted && gyre_reply_ready(gyre_ring_of(relay->target), index) && is_settled(relay, index, place);
}

/* Gives slots back in order, up to the first one that is still needed. Returns how many. */
static uint64_t give_back_places(struct gyre_relay *relay, uint64_t end)
{
    uint64_t count = 0, now = relay->absent ? gyre_clock_ns() : 0;
    while (relay->oldest < end && !gyre_relay_is_in_use(relay, relay->oldest))
        relay->oldest++;
    if (relay->oldest == end || !is_over(relay, relay->oldest, now))
        return 0;
    gyre_consumer_take(relay->target);
    for (; relay->oldest < end; relay->oldest++) {
        if (!gyre_relay_is_in_use(relay, relay->oldest))
            continue;
        if (!is_over(relay, relay->oldest, now))
            break;
        give_back(relay, relay->oldest, gyre_relay_place(relay, relay->oldest));
        count++;
    }
    gyre_consumer_give(relay->target);
    return count;
}

/* Whether the completion of the request still has to be copied into a ring. */
static bool is_owed(const struct gyre_relay *relay, uint64_t index)
{
    const struct gyre_relay_place *place = gyre_relay_place(relay, index);
    return place->request == index + 1 && place->ring && !place->given;
}

static uint64_t give_completions(struct gyre_relay *relay, uint64_t end, bool whole)
{
    uint64_t given = 0, index = relay->given_end < relay->oldest ? relay->oldest : relay->given_end;
    bool missing = false;
    for (; index < end && (whole || !missing); index++) {
        __builtin_prefetch(
            gyre_reply_slot(gyre_ring_of(relay->target), index + AHEAD)); /* another processor wrote it */
        if (is_owed(relay, index)) {
            if (gyre_reply_ready(gyre_ring_of(relay->target), index)) {
                gyre_relay_give(relay, index, gyre_relay_place(relay, index));
                given++;
            } else {
                missing = true;
            }
        }
        relay->given_end = missing ? relay->given_end : index + 1;
    }
    return given;
}

bool gyre_relay_carry_back(struct gyre_relay *relay, bool whole)
{
    gyre_queue *target = relay->target;
    const uint64_t end = gyre_queue_next_index(target);
    const bool given = give_completions(relay, end, whole) != 0;
    const bool returned = give_back_places(relay, end) != 0;
    if (returned && relay->oldest == end &&
        gyre_log_of(target)->journal_bell) /* all slots are given back, which the journal notes at once */
        gyre_bell_ring(gyre_log_of(target)->journal_bell, INT_MAX);
    if (given)
        pthread_cond_broadcast(&relay->changed);
    return given || returned;
}
