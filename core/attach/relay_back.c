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
 * Whether the request is done with: its completion is there, nobody waits for it, and its client knows what is
 * durable.
 */
static bool is_over(const struct gyre_relay *relay, uint64_t index, uint64_t now)
{
    const struct gyre_relay_place *place = gyre_relay_place(relay, index);
    const bool over = place->ring
                          ? place->given /* so its completion is there */
                          : is_let_go(place, now) && gyre_reply_ready(gyre_ring_of(relay->target), index);
    return over && is_settled(relay, index, place);
}

/* Gives the place of request `index` back. */
static void give_back(struct gyre_relay *relay, uint64_t index)
{
    struct gyre_relay_place *place = gyre_relay_place(relay, index);
    relay->absent -= !place->ring;
    place->request = 0;
}

/*
 * Gives slots back in order, up to the first one that is still needed. Returns how many. Slots at the queue's cursor are passed
 * at once; of those behind requests of the program itself the mark says that they are done with, and whoever comes there passes
 * them.
 */
static uint64_t give_back_places(struct gyre_relay *relay, uint64_t end)
{
    gyre_queue *target = relay->target;
    uint64_t count = 0, now = relay->absent ? gyre_clock_ns() : 0;
    while (relay->oldest < end && !gyre_relay_is_in_use(relay, relay->oldest))
        relay->oldest++;
    if (relay->oldest == end || !is_over(relay, relay->oldest, now))
        return 0;
    gyre_consumer_take(target);
    const uint64_t cursor = gyre_received(target);
    uint64_t passed = cursor;
    for (; relay->oldest < end; relay->oldest++) {
        const uint64_t index = relay->oldest;
        if (!gyre_relay_is_in_use(relay, index))
            continue;
        if (!is_over(relay, index, now))
            break;
        gyre_replies_taken(target, index, index + 1);
        give_back(relay, index);
        gyre_mark_set_locked(target, index, index == passed ? GYRE_MARK_SEND : GYRE_MARK_DONE);
        passed += index == passed;
        count++;
    }
    if (passed != cursor)
        gyre_replies_pass(target, passed, 0);
    gyre_consumer_give(target);
    return count;
}

static uint64_t give_completions(struct gyre_relay *relay, uint64_t end, bool whole)
{
    uint64_t given = 0, index = relay->given_end < relay->oldest ? relay->oldest : relay->given_end;
    bool missing = false;
    while (index < end && (whole || !missing)) {
        const uint64_t count = gyre_relay_give(relay, index, end);
        missing = missing || (!count && gyre_relay_owes(relay, index));
        index += count ? count : 1;
        given += count;
        relay->given_end = missing ? relay->given_end : index;
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
