/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two stages of a pipeline and who feeds it: the loop of workers (cpu_worker.c), links (cpu_links.c, cpu_ports.c), seats and visits
 * (cpu_seat.c, cpu_walk.c) as they are. What a handler does, and what a flow counts, is here: each message goes through both stages,
 * once, whole, and in its order where one block takes it; and everybody ends when told to.
 *
 * The seed says whether threads follow their messages, whether a stage has one block or two, how they wait, and by which barriers.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/links/cpu_flow.h"
#include "backends/cpu/links/cpu_link_ring.h"
#include "backends/cpu/links/cpu_links.h"
#include "backends/cpu/links/cpu_ports.h"
#include "backends/cpu/threads/cpu_seat.h"
#include "backends/cpu/links/cpu_walk.h"
#include "gyre/waiting.h"
#include "links_unit.h"
#include "machine.h"
#include "scenario.h"

enum { ALL = 70, CAPACITY = 2 * GYRE_LINK_SECTIONS, STRIDE = 32, BLOCKS = 2 };

struct link {
    _Alignas(64) gyre_link_ring ring;
    gyre_link_window windows[BLOCKS];
    _Alignas(64) unsigned char slots[CAPACITY * STRIDE];
};

struct stage {
    struct {
        _Alignas(64) gyre_control_region region;
        gyre_control_block blocks[BLOCKS];
    } control;
    struct {
        _Alignas(64) gyre_link_table table;
        gyre_link_inlet inlet;
    } links;
    struct gyre_resident resident;
    struct cpu_worker workers[BLOCKS];
};

static const gyre_type number_type = {.size = 8};
static const gyre_cpu_port_type ports[] = {{.type = &number_type, .name = "numbers", .most = 1, .least = 8}};
static const gyre_cpu_kernel sending = {.ports = ports, .port_count = 1, .sizes = {8, 8, 8, 8}};
static const gyre_cpu_kernel ending = {.sizes = {8, 8, 8, 8}};

static struct {
    struct gyre_device device;
    struct stage feeder, first, second;
    struct link in, between;
    uint32_t seen[ALL], handled, last;
    uint32_t bell, parked;
} world;

/* ---- what the backend asks for ---- */

static void take(struct cpu_worker *worker, const uint64_t *number)
{
    const uint64_t value = *number;
    machine_require(value < ALL);
    machine_require(__atomic_fetch_add(&world.seen[value], 1, __ATOMIC_RELAXED) == 0);
    if (worker->resident->blocks == 1) {
        machine_require(world.last == value);
        world.last = (uint32_t)value + 1;
    }
    if (__atomic_add_fetch(&world.handled, 1, __ATOMIC_RELEASE) == ALL)
        gyre_bell_ring(&world.bell, INT_MAX);
}

static void emit(struct cpu_worker *worker, uint64_t number)
{
    gyre_link_ring *const ring = worker->links.rings[0];
    *(uint64_t *)(void *)(slot_of(ring, ring->head) + 1) = number;
    worker->links.ports[0].emitted = 1;
    cpu_ports_publish(worker, 0);
}

bool cpu_flow_handle(struct cpu_worker *worker, gyre_u64 origin, const gyre_link_ask *ask,
                     const void *request, gyre_u32 length)
{
    (void)origin;
    (void)ask;
    machine_require(length == 8);
    if (worker->resident == &world.first.resident)
        emit(worker, *(const uint64_t *)request);
    else
        take(worker, request);
    return false;
}

/* ---- threads ---- */

static int has_room(void *context)
{
    return cpu_ports_have_room(context);
}

static void feed(void *argument)
{
    struct cpu_worker *const worker = argument;
    const gyre_control_region *const control = &world.feeder.control.region;
    cpu_ports_read(worker);
    for (uint64_t i = 0; i < ALL; i++) {
        while (!cpu_ports_make_room(worker)) {
            cpu_ports_tell_starved(worker, true);
            gyre_idle_park(has_room, worker, (uint32_t *)&control->device.parked, &control->doorbell.bell,
                           worker->resident->light_barriers);
            cpu_ports_tell_starved(worker, false);
        }
        emit(worker, i);
        links_unit_ring_bells(worker);
    }
}

static void work(void *argument)
{
    struct cpu_worker *const worker = argument;
    machine_require(worker->task.run(&worker->task) == CPU_TASK_ENDED);
}

static int is_over(void *context)
{
    (void)context;
    return __atomic_load_n(&world.handled, __ATOMIC_ACQUIRE) == ALL;
}

static void stop(struct stage *stage)
{
    __atomic_store_n(&stage->control.region.command.command, 2 << 8 | GYRE_VERB_STOP, __ATOMIC_RELEASE);
    gyre_bell_ring(&stage->control.region.doorbell.bell, INT_MAX);
}

static void wait_and_stop(void *argument)
{
    (void)argument;
    gyre_idle_park(is_over, NULL, &world.parked, &world.bell, 1);
    stop(&world.first);
    stop(&world.second);
}

/* ---- the case ---- */

static void make_link(struct link *link)
{
    link->ring.slots = (uintptr_t)link->slots;
    link->ring.capacity = CAPACITY;
    link->ring.stride = STRIDE;
}

static void make_stage(struct stage *stage, const gyre_cpu_kernel *kernel, uint32_t blocks, uint64_t variant)
{
    stage->control.region.command.command = 1 << 8 | GYRE_VERB_RUN;
    stage->control.region.command.links = (uintptr_t)&stage->links;
    stage->resident = (struct gyre_resident){.device = &world.device,
                                             .kernel = kernel,
                                             .control = &stage->control.region,
                                             .blocks = blocks,
                                             .block_count = blocks,
                                             .worker_count = blocks,
                                             .present = blocks,
                                             .idle = variant & 1 ? GYRE_IDLE_PARK : GYRE_IDLE_ADAPTIVE,
                                             .light_barriers = variant >> 1 & 1,
                                             .workers = stage->workers};
    /* one that parks at once lets senders make the fence (cpu_launch.c) */
    stage->control.region.command.parks = stage->resident.idle == GYRE_IDLE_PARK;
    for (uint32_t i = 0; i < blocks; i++) {
        struct cpu_worker *const worker = &stage->workers[i];
        worker->resident = &stage->resident;
        worker->block = i;
        worker->line = &stage->control.blocks[i];
        cpu_worker_init(worker);
        if (!cpu_ports_init(worker))
            abort();
    }
}

static void join(struct stage *from, struct link *link, struct stage *to)
{
    from->links.table.port_count = 1;
    from->links.table.ports[0] = (gyre_link_port){.rings = (uintptr_t)&link->ring,
                                                  .control = (uintptr_t)&to->control,
                                                  .use = GYRE_PORT_LINKED,
                                                  .most = 1};
    to->links.table.inlet_count = 1;
    to->links.inlet = (gyre_link_inlet){.ring = (uintptr_t)&link->ring,
                                        .windows = (uintptr_t)link->windows,
                                        .control = (uintptr_t)&from->control};
}

static void finish(void)
{
    struct stage *const stages[] = {&world.feeder, &world.first, &world.second};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        for (uint32_t block = 0; block < stages[i]->resident.blocks; block++)
            cpu_ports_finish(&stages[i]->workers[block]);
    cpu_seats_destroy(world.device.seats);
}

static void begin(uint64_t variant)
{
    const uint32_t blocks = 1 + (variant >> 2 & 1);
    finish(); /* of the run before */
    memset(&world, 0, sizeof world);
    world.device.seats = cpu_seats_create(2);
    world.device.settings.follow = variant >> 3 & 1 ? CPU_FOLLOW_ALWAYS : CPU_FOLLOW_NEVER;
    make_link(&world.in);
    make_link(&world.between);
    make_stage(&world.feeder, &sending, 1, variant);
    make_stage(&world.first, &sending, 1, variant);
    make_stage(&world.second, &ending, blocks, variant);
    join(&world.feeder, &world.in, &world.first);
    join(&world.first, &world.between, &world.second);
    machine_thread("feeder", feed, &world.feeder.workers[0]);
    machine_thread("first stage", work, &world.first.workers[0]);
    for (uint32_t i = 0; i < blocks; i++)
        machine_thread(i ? "second stage, block 1" : "second stage, block 0", work, &world.second.workers[i]);
    machine_thread("host", wait_and_stop, NULL);
}

static bool holds(void)
{
    if (world.handled != ALL)
        printf("%u of %u messages were handled\n", world.handled, ALL);
    return world.handled == ALL;
}

const struct scenario scenario_stages = {"stages", begin, holds};
