/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock of queues (core/base/lock.h): one thread enters so often that it becomes the owner, another one takes the lock from it, and a third
 * one only tries, as receivers do: who fails leaves its work to the holder, which looks after giving. One is inside at a time, sees what
 * the one before did, and no work is left.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/lock.h"

#include "machine.h"
#include "scenario.h"

enum { OFTEN = 20, SELDOM = 2, TRIES = 3, THREADS = 3 };

static struct {
    struct gyre_lock lock;
    uint64_t entered; /* under the lock */
    uint64_t by[THREADS];
    uint32_t wanted;
    uint32_t done; /* of `wanted`; written under the lock */
} world;

static void work(int thread)
{
    world.entered++;
    world.by[thread]++;
    const uint32_t wanted = __atomic_load_n(&world.wanted, __ATOMIC_RELAXED);
    if (wanted != world.done)
        __atomic_store_n(&world.done, wanted, __ATOMIC_RELAXED);
}

/* Gives the lock, and looks whether somebody left work, as gyre_receive does. */
static void leave(int thread)
{
    gyre_lock_give(&world.lock);
    while (__atomic_load_n(&world.wanted, __ATOMIC_SEQ_CST) !=
               __atomic_load_n(&world.done, __ATOMIC_RELAXED) &&
           gyre_lock_try(&world.lock)) {
        work(thread);
        gyre_lock_give(&world.lock);
    }
}

static void take(int thread, int times)
{
    for (int i = 0; i < times; i++) {
        gyre_lock_take(&world.lock);
        work(thread);
        leave(thread);
    }
}

static void often(void *argument)
{
    (void)argument;
    take(0, OFTEN);
}

static void seldom(void *argument)
{
    (void)argument;
    take(1, SELDOM);
}

static void tries(void *argument)
{
    (void)argument;
    for (int i = 0; i < TRIES; i++) {
        __atomic_fetch_add(&world.wanted, 1, __ATOMIC_SEQ_CST);
        if (gyre_lock_try(&world.lock)) {
            work(2);
            leave(2);
        }
    }
}

static void begin(uint64_t variant)
{
    memset(&world, 0, sizeof world);
    gyre_lock_init(&world.lock, 1);
    machine_thread("often", often, NULL);
    machine_thread("seldom", seldom, NULL);
    if (variant & 1)
        machine_thread("tries", tries, NULL);
}

static bool holds(void)
{
    const uint64_t sum = world.by[0] + world.by[1] + world.by[2];
    if (sum != world.entered)
        printf("%llu times inside, of which %llu were counted\n", (unsigned long long)sum,
               (unsigned long long)world.entered);
    if (world.done != world.wanted)
        printf("%u of %u were done\n", world.done, world.wanted);
    return sum == world.entered && world.done == world.wanted;
}

const struct scenario scenario_lock = {"lock", begin, holds};
