/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a thread that carries messages between two sides waits between two turns that did something: as a queue is
 * configured to (core/queue/strategy.h), and then it is to sleep. It has a patience for either side that it waits for: one
 * of them may share its processor while the other has one of its own.
 */
#ifndef GYRE_CORE_ATTACH_CARRY_WAIT_H
#define GYRE_CORE_ATTACH_CARRY_WAIT_H

#include <stdbool.h>

#include "core/queue/strategy.h"

struct gyre_carry_wait {
    gyre_patience of_clients, of_device;
    gyre_patience *patience; /* of the wait under way; NULL: there is none */
    uint64_t turns;
    int ran;
};

enum { GYRE_CARRY_LOOKS = 4 }; /* at a slot take as long as a turn that finds nothing */

/** A turn did something. */
static inline void gyre_carry_wait_end(struct gyre_carry_wait *wait)
{
    if (wait->patience)
        gyre_patience_end(wait->patience, wait->ran);
    wait->patience = NULL;
}

/** It slept. */
static inline void gyre_carry_wait_forget(struct gyre_carry_wait *wait)
{
    wait->patience = NULL;
}

static inline void gyre_carry_wait_begin(struct gyre_carry_wait *wait, bool of_device)
{
    wait->patience = of_device ? &wait->of_device : &wait->of_clients;
    wait->turns = 0;
    wait->ran = 0;
    gyre_patience_begin(wait->patience);
}

/**
 * After a turn that did nothing: a moment later. False: it has looked often enough, and is to sleep. `of_device`: something is
 * under way, so the device is to go on next, and else a client.
 */
static inline bool gyre_carry_wait_a_moment(struct gyre_carry_wait *wait, bool of_device, uint32_t spin_turns)
{
    if (!wait->patience)
        gyre_carry_wait_begin(wait, of_device);
    const uint64_t turn = ++wait->turns, looks = turn * GYRE_CARRY_LOOKS;
    if (looks > (uint64_t)spin_turns + (uint64_t)GYRE_WAIT_YIELDS * GYRE_CARRY_LOOKS)
        return false;
    wait->ran = looks > spin_turns ? sched_yield() == 0 : gyre_patience_pause(wait->patience, looks);
    return true;
}

#endif
