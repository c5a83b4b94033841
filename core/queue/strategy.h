/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits by the strategy of a queue: spins, lets other threads run, and then sleeps. Every round trip ends in one of these
 * loops, so they are inline, and each wait calls its `look` directly. wait.h has the waits.
 */
#ifndef GYRE_CORE_QUEUE_STRATEGY_H
#define GYRE_CORE_QUEUE_STRATEGY_H

#include <sched.h>

#include "gyre/gyre.h"
#include "gyre/waiting.h"

#define GYRE_STRATEGY static inline __attribute__((always_inline))

struct gyre_strategy {
    gyre_idle_strategy idle;
    uint32_t spin_turns; /* looks before an adaptive wait yields; with park: 0 if a bell will ring */
    uint64_t deadline_ns;
    gyre_status (*look)(const void *context);                       /* AGAIN: go on waiting */
    gyre_status (*park)(const void *context, uint64_t deadline_ns); /* sleeps; as `look`, or TIMEOUT */
    const void *context;
};

enum {
    GYRE_TURNS_PER_CLOCK = 64, /* a look at the clock costs as much as a few looks at the slot */
    GYRE_WAIT_YIELDS = 16,     /* how often a wait yields between spinning and parking */
};

GYRE_STRATEGY gyre_status gyre_strategy_spin(const struct gyre_strategy *strategy)
{
    gyre_status status = strategy->look(strategy->context);
    for (uint64_t turn = 1; status == GYRE_AGAIN; turn++) {
        if (turn % GYRE_TURNS_PER_CLOCK == 0 && gyre_clock_ns() >= strategy->deadline_ns)
            return GYRE_TIMEOUT;
        gyre_spin_pause();
        status = strategy->look(strategy->context);
    }
    return status;
}

/* Spins, and lets other threads run now and then, because the worker may be waiting for this very core. */
GYRE_STRATEGY gyre_status gyre_strategy_spin_politely(const struct gyre_strategy *strategy)
{
    static _Thread_local gyre_patience patience;
    gyre_status status = GYRE_AGAIN;
    int ran = 0;
    gyre_patience_begin(&patience);
    for (uint64_t turn = 1; turn <= strategy->spin_turns; turn++) {
        status = strategy->look(strategy->context);
        if (status != GYRE_AGAIN)
            break;
        if (turn % GYRE_TURNS_PER_CLOCK == 0 && gyre_clock_ns() >= strategy->deadline_ns)
            return GYRE_TIMEOUT;
        ran = gyre_patience_pause(&patience, turn);
    }
    if (status == GYRE_OK)
        gyre_patience_end(&patience, ran);
    return status;
}

GYRE_STRATEGY gyre_status gyre_strategy_yield(const struct gyre_strategy *strategy, uint64_t turns)
{
    gyre_status status = GYRE_AGAIN;
    for (uint64_t turn = 0; turn < turns && status == GYRE_AGAIN; turn++) {
        sched_yield();
        status = strategy->look(strategy->context);
        if (status == GYRE_AGAIN && gyre_clock_ns() >= strategy->deadline_ns)
            status = GYRE_TIMEOUT;
    }
    return status;
}

/** Waits by the strategy. Returns what a look or `park` returned, or TIMEOUT. */
GYRE_STRATEGY gyre_status gyre_strategy_wait(const struct gyre_strategy *strategy)
{
    gyre_status status = GYRE_AGAIN;
    switch (strategy->idle) {
    case GYRE_WAIT_SPIN:
        return gyre_strategy_spin(strategy);
    case GYRE_WAIT_YIELD:
        return gyre_strategy_yield(strategy, UINT64_MAX);
    case GYRE_WAIT_PARK:
        if (strategy->spin_turns)
            status = gyre_strategy_spin_politely(strategy);
        break;
    default:
        status = gyre_strategy_spin_politely(strategy);
        if (status == GYRE_AGAIN)
            status = gyre_strategy_yield(strategy, GYRE_WAIT_YIELDS);
    }
    return status == GYRE_AGAIN ? strategy->park(strategy->context, strategy->deadline_ns) : status;
}

#undef GYRE_STRATEGY

#endif
