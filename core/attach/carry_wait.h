/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a thread that carries messages between clients and a device (relay_run.c, lasting_attach.c) waits when a turn found
 * nothing to do: first it spins and yields as its queue is configured to (core/queue/strategy.h), then its caller
 * puts it to sleep. It learns separately how clients and how the device are best waited for (two patiences), because
 * one of these sides may share a processor with this thread while the other side has a processor of its own.
 */
#ifndef GYRE_CORE_ATTACH_CARRY_WAIT_H
#define GYRE_CORE_ATTACH_CARRY_WAIT_H

#include <stdbool.h>

#include "core/queue/strategy.h"

struct gyre_carry_wait {
    gyre_patience of_clients, of_device;
    gyre_patience *patience; /* the patience that the present wait uses; NULL: no wait is under way */
    uint64_t turns;
    int ran;
};

enum { GYRE_CARRY_LOOKS = 4 }; /* a turn that finds nothing takes as long as this number of looks at a slot */

/** Whether the thread shares its processor with the device: waits for the device mostly ended once another thread had run. */
static inline bool gyre_carry_wait_shares(const struct gyre_carry_wait *wait)
{
    return gyre_patience_shares(&wait->of_device);
}

/** Ends the wait because a turn did something. */
static inline void gyre_carry_wait_end(struct gyre_carry_wait *wait)
{
    if (wait->patience)
        gyre_patience_end(wait->patience, wait->ran);
    wait->patience = NULL;
}

/** Ends the wait because the thread slept: the patience learns nothing from this wait. */
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
 * Waits a moment after a turn that did nothing. False: the thread has looked often enough, and its caller puts it to
 * sleep. `of_device`: true while a request is under way, so that the thread waits for the device; else it waits for a
 * client.
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
