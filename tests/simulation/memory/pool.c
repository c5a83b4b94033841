/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring of a pool (device_jobs.c), whose owner emits into it and takes the newest messages, while two thieves take the oldest: each message
 * is taken once, and whole. The seed says whether the owner takes from its own end, or everybody takes the first.
 */
#include <stdio.h>
#include <string.h>

#include "backends/cpu/links/cpu_link_ring.h"
#include "backends/device/device_jobs.h"
#include "machine.h"
#include "pool_unit.h"
#include "scenario.h"

enum { CAPACITY = 2 * GYRE_LINK_SECTIONS, STRIDE = 32, ALL = 50, THIEVES = 2 };

static struct {
    _Alignas(64) gyre_link_ring ring;
    _Alignas(64) unsigned char slots[CAPACITY * STRIDE];
    struct gyre_resident resident;
    struct cpu_worker owner, thief;
    uint32_t taken[ALL], count;
} world;

static void note(uint64_t number)
{
    machine_require(number < ALL);
    machine_require(__atomic_fetch_add(&world.taken[number], 1, __ATOMIC_RELAXED) == 0);
    __atomic_fetch_add(&world.count, 1, __ATOMIC_RELAXED);
}

static bool is_over(void)
{
    return __atomic_load_n(&world.count, __ATOMIC_RELAXED) == ALL;
}

/* Takes one as cpu_jobs.c and cpu_links.c do: the owner's newest message is copied, and its place is free at once. */
static bool take(struct cpu_worker *worker, bool own)
{
    gyre_u64 index;
    if (!device_jobs_take(&world.ring, own, 1, &index))
        return false;
    note(*(const uint64_t *)(const void *)(slot_of(&world.ring, index) + 1));
    if (!own || !(world.ring.pool & GYRE_POOL_NEWEST))
        pool_unit_give_back(worker, &world.ring, index);
    return true;
}

static void own(void *argument)
{
    struct cpu_worker *const worker = argument;
    for (uint64_t i = 0; i < ALL; i++) {
        while (!pool_unit_make_room(&world.ring))
            if (!take(worker, true))
                machine_yield();
        pool_unit_publish(&world.ring, i);
        if (machine_draw(3) == 0)
            take(worker, true);
    }
    while (!is_over())
        if (!take(worker, true))
            machine_yield();
}

static void steal(void *argument)
{
    while (!is_over())
        if (!device_jobs_waiting(&world.ring, 1) || !take(argument, false))
            machine_yield();
}

static void begin(uint64_t variant)
{
    memset(&world, 0, sizeof world);
    world.ring.slots = (uintptr_t)world.slots;
    world.ring.capacity = CAPACITY;
    world.ring.stride = STRIDE;
    world.ring.pool = (1 + THIEVES) | GYRE_POOL_OWN | (variant & 1 ? GYRE_POOL_NEWEST : 0);
    world.resident.blocks = 1;
    world.owner.resident = world.thief.resident = &world.resident;
    machine_thread("owner", own, &world.owner);
    for (int i = 0; i < THIEVES; i++)
        machine_thread("thief", steal, &world.thief);
}

static bool holds(void)
{
    if (world.count != ALL)
        printf("%u of %u messages were taken\n", world.count, ALL);
    return world.count == ALL;
}

const struct scenario scenario_pool = {"pool", begin, holds};
