/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock of a seat (cpu_seat.c), as cpu_worker.c and cpu_walk.c use it: a stage's own thread and two visitors. One of them serves at a
 * time, each message is served, and nobody sleeps while there is one.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpu/threads/cpu_seat.h"
#include "gyre/waiting.h"

#include "machine.h"
#include "scenario.h"

enum { VISITORS = 2, EACH = 3, ALL = VISITORS * EACH };

static struct {
    struct cpu_seat seat;
    uint32_t bell, parked, published;
    uint32_t served; /* under the seat */
    uint32_t over;   /* all were served */
} stage;

/* With the seat: takes what is there. */
static bool serve(void)
{
    const uint32_t published = __atomic_load_n(&stage.published, __ATOMIC_ACQUIRE);
    const bool any = stage.served != published;
    stage.served = published;
    if (published == ALL) {
        __atomic_store_n(&stage.over, 1, __ATOMIC_RELAXED);
        gyre_bell_ring(&stage.bell, INT_MAX);
    }
    return any;
}

static int look(void *context)
{
    (void)context;
    if (__atomic_load_n(&stage.over, __ATOMIC_RELAXED))
        return 1;
    if (!cpu_seat_try(&stage.seat))
        return 0;
    const bool found = stage.served != __atomic_load_n(&stage.published, __ATOMIC_ACQUIRE);
    return cpu_seat_leave(&stage.seat) || found;
}

static void own_thread(void *argument)
{
    (void)argument;
    while (!__atomic_load_n(&stage.over, __ATOMIC_RELAXED)) {
        cpu_seat_take(&stage.seat);
        const bool any = serve();
        cpu_seat_leave(&stage.seat);
        if (!any)
            gyre_idle_park(look, NULL, &stage.parked, &stage.bell, 1);
    }
}

/* Goes to the stage when it sleeps, as cpu_walk.c does. */
static void visitor(void *argument)
{
    (void)argument;
    for (int i = 0; i < EACH; i++) {
        __atomic_fetch_add(&stage.published, 1, __ATOMIC_RELEASE);
        gyre_barrier_light(1);
        if (!__atomic_load_n(&stage.parked, __ATOMIC_RELAXED) || !cpu_seat_try(&stage.seat))
            continue;
        do
            serve();
        while (!cpu_seat_leave_quietly(&stage.seat));
    }
}

static void begin(uint64_t variant)
{
    (void)variant;
    memset(&stage, 0, sizeof stage);
    machine_thread("own thread", own_thread, NULL);
    for (int i = 0; i < VISITORS; i++)
        machine_thread("visitor", visitor, NULL);
}

static bool holds(void)
{
    if (stage.served != ALL)
        printf("%u of %u messages were served\n", stage.served, ALL);
    return stage.served == ALL;
}

const struct scenario scenario_seat = {"seat", begin, holds};
