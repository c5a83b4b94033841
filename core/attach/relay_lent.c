/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message to a kernel that keeps its requests goes through three threads: client, relay, worker. Where relay and worker share
 * a processor, each hand-over would wait for a switch between them. So the relay's thread lends its turns (errand.h) to the
 * worker, which takes them between two looks at its queues, and after each batch of messages.
 *
 * Where there is a processor for each of the three threads, only calls are lent, one request at a time: a stream is quicker with
 * both threads. Where there are fewer, streams are lent, too, unless the handler is slow: then replies would wait in the
 * kernel's queue until the worker has handled a whole batch.
 *
 * Under relay->lock, which the worker only tries: it must not wait for a thread that waits for the worker. A queue with a
 * journal lends nothing: its relay also waits for the disk.
 */
#include "core/attach/relay_lent.h"

#include "core/attach/relay_back.h"
#include "core/attach/relay_ring.h"
#include "core/queue/state.h"

enum {
    /* in every WHOLE-th turn the relay looks at all completions, even if it always has other work */
    WHOLE = 64,
    TAKES_MAX = 256, /* the most requests that a turn takes from one ring */
    CALM_TURNS = 64, /* so many turns with one request at most are no stream */
    SLOW_TURNS = 3   /* one or two long pauses between turns may be the scheduler's */
};
/* A thread of the device that took no turn for so long is inside a handler: the relay's thread looks itself. */
#define SILENCE_NS UINT64_C(5000000)
#define SLOW_NS    UINT64_C(200000)   /* a pause between two turns of a stream that keeps replies waiting */
#define RETRY_NS   UINT64_C(50000000) /* until turns for a slow handler are lent again */

static bool is_ending(const struct gyre_relay *relay)
{
    return __atomic_load_n(&relay->stop, __ATOMIC_ACQUIRE) || gyre_queue_closed(relay->target) ||
           gyre_queue_lost(relay->target);
}

bool gyre_relay_turn(struct gyre_relay *relay)
{
    bool worked = gyre_relay_carry_back(relay, ++relay->turns % WHOLE == 0);
    relay->held = false;
    for (struct gyre_relay_ring *ring = relay->rings; ring; ring = ring->next)
        worked = gyre_relay_take(relay, ring, TAKES_MAX) || worked;
    worked = worked || gyre_relay_carry_back(relay, true);
    return gyre_relay_tell(relay) || worked;
}

/* Notes how long a stream waited for this turn. Calls need no clock: nothing waits behind a single request. */
static void note_pause(struct gyre_relay_loan *loan)
{
    if (!loan->left_ns)
        return;
    const uint64_t now_ns = gyre_clock_ns();
    loan->slow = now_ns - loan->left_ns > SLOW_NS ? loan->slow + 1 : 0;
    if (loan->slow >= SLOW_TURNS)
        loan->again_ns = now_ns + RETRY_NS;
}

/* Whether the turns go back to the relay's thread, after one that left so many requests under way. */
static bool loan_is_over(const struct gyre_relay *relay, uint64_t under_way)
{
    return relay->held || is_ending(relay) || (under_way > 1 && !relay->loan.streams) ||
           relay->loan.slow >= SLOW_TURNS;
}

static bool take_turn(void *owner)
{
    struct gyre_relay *relay = owner;
    if (pthread_mutex_trylock(&relay->lock) != 0)
        return false;
    note_pause(&relay->loan);
    const bool worked = gyre_relay_turn(relay);
    const uint64_t under_way = gyre_relay_under_way(relay);
    relay->loan.left_ns = under_way > 1 ? gyre_clock_ns() : 0;
    if (loan_is_over(relay, under_way))
        gyre_errand_recall(relay->errand);
    pthread_mutex_unlock(&relay->lock);
    return worked;
}

bool gyre_relay_lend(struct gyre_relay *relay)
{
    struct gyre_relay_loan *loan = &relay->loan;
    const bool fits =
        loan->streams ? !loan->again_ns || gyre_clock_ns() >= loan->again_ns : loan->calm >= CALM_TURNS;
    if (!fits || gyre_view_of(relay->target)->durable)
        return false;
    loan->left_ns = loan->again_ns = 0;
    loan->slow = 0;
    if (!gyre_errand_lend(relay->errand, take_turn, relay))
        return false;
    gyre_errand_await(relay->errand, SILENCE_NS);
    gyre_errand_take_back(relay->errand, relay);
    loan->calm = 0;
    return true;
}
