/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of a kernel: threads send, receive and call by gyre.h, one or two workers handle (cpu_worker.c, and the loop of a compiled
 * handler). Each request has one reply, its own, whole; who waits for room or for a reply is woken; and workers end when told to.
 *
 * The seed says how many workers there are, how both sides wait and by which barriers, and who else uses the queue, and for how long.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu_resident.h"
#include "backends/cpu/threads/cpu_seat.h"
#include "core/base/error.h"
#include "core/queue/life.h"
#include "core/queue/queue.h"
#include "core/ring/bytes.h"
#include "core/ring/ring.h"
#include "core/stages/make.h"
#include "gyre/dialect/cpu_module.h"
#include "handler.h"
#include "machine.h"
#include "scenario.h"

enum { CAPACITY = 4, FEW = 8, MANY = 32, CALLS = 2, BLOCKS = 2 };

static struct {
    struct gyre_device device;
    struct {
        _Alignas(64) gyre_control_region region;
        gyre_control_block blocks[BLOCKS];
    } control;
    struct gyre_resident resident;
    struct cpu_worker workers[BLOCKS];
    gyre_queue *queue;
    uint32_t all; /* requests that are sent: MANY make the threads owners of their locks (core/base/lock.c) */
    uint32_t received, running; /* threads of the client that go on */
} world;

const gyre_cpu_module *gyre_cpu_module_table(void);

static void fill(numbers *request, uint64_t number)
{
    request->number = number;
    for (uint32_t i = 0; i < 9; i++)
        request->again[i] = number + i;
}

static void look_at_reply(const numbers *reply, uint64_t number)
{
    machine_require(reply->number == number * 2);
    for (uint32_t i = 0; i < 9; i++)
        machine_require(reply->again[i] == number * 2 + i);
}

/* ---- threads ---- */

/* The last thread of the client ends the workers. */
static void leave(void)
{
    if (__atomic_sub_fetch(&world.running, 1, __ATOMIC_ACQ_REL))
        return;
    __atomic_store_n(&world.control.region.command.command, 2 << 8 | GYRE_VERB_STOP, __ATOMIC_RELEASE);
    gyre_bell_ring(&world.control.region.doorbell.bell, INT_MAX);
}

static void send_all(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < world.all; i++) {
        numbers request;
        fill(&request, 100 + i);
        machine_require(gyre_send(world.queue, &request, sizeof request, NULL, GYRE_FOREVER) == GYRE_OK);
    }
    leave();
}

static void receive_all(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < world.all; i++) {
        numbers reply;
        gyre_completion completion;
        machine_require(gyre_receive(world.queue, &reply, sizeof reply, &completion, GYRE_FOREVER) ==
                        GYRE_OK);
        machine_require(completion.outcome == GYRE_REPLIED);
        look_at_reply(&reply, 100 + i);
        __atomic_fetch_add(&world.received, 1, __ATOMIC_RELAXED);
    }
    leave();
}

static void call(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < CALLS; i++) {
        numbers request, reply;
        fill(&request, 1000 + i);
        machine_require(gyre_call(world.queue, &request, sizeof request, &reply, sizeof reply, NULL,
                                  GYRE_FOREVER) == GYRE_OK);
        look_at_reply(&reply, 1000 + i);
    }
    leave();
}

static void work(void *argument)
{
    struct cpu_worker *const worker = argument;
    machine_require(worker->task.run(&worker->task) == CPU_TASK_ENDED);
}

/* ---- the case ---- */

static void make_queue(uint64_t variant, bool parks)
{
    const struct gyre_queue_options options = {.name = "numbers",
                                               .capacity = CAPACITY,
                                               .request_size = sizeof(numbers),
                                               .reply_size = sizeof(numbers),
                                               .policy = GYRE_FULL_BLOCK,
                                               .idle = variant & 2 ? GYRE_WAIT_PARK : GYRE_WAIT_ADAPTIVE,
                                               .many_threads = true,
                                               .device_wakes = true,
                                               .device_parks = parks,
                                               .control = &world.control.region};
    if (gyre_queue_create(&options, &world.queue) != GYRE_OK) {
        printf("%s\n", gyre_error_text());
        abort();
    }
    gyre_control_queue *const entry = &world.control.region.queues[0];
    entry->slots = gyre_ring_of(world.queue)->slots;
    entry->bridge = *gyre_bytes_layout(gyre_ring_of(world.queue));
    entry->serial = 1;
    entry->address = (uintptr_t)gyre_ring_of(world.queue)->shared;
    world.control.region.command.queue_count = 1;
}

static void make_workers(uint32_t blocks, bool parks)
{
    world.resident = (struct gyre_resident){.device = &world.device,
                                            .kernel = *gyre_cpu_module_table()->first,
                                            .control = &world.control.region,
                                            .blocks = blocks,
                                            .block_count = blocks,
                                            .worker_count = blocks,
                                            .present = blocks,
                                            .idle = parks ? GYRE_IDLE_PARK : GYRE_IDLE_ADAPTIVE,
                                            .light_barriers = 1,
                                            .workers = world.workers};
    world.control.region.command.command = 1 << 8 | GYRE_VERB_RUN;
    world.control.region.command.parks = parks;
    for (uint32_t i = 0; i < blocks; i++) {
        world.workers[i].resident = &world.resident;
        world.workers[i].block = i;
        world.workers[i].line = &world.control.blocks[i];
        cpu_worker_init(&world.workers[i]);
        machine_thread(i ? "worker 1" : "worker 0", work, &world.workers[i]);
    }
}

static void begin(uint64_t variant)
{
    const uint32_t blocks = 1 + (variant >> 2 & 1);
    const bool calls = variant >> 3 & 1, parks = variant & 1;
    gyre_queue_destroy(world.queue); /* of the run before */
    cpu_seats_destroy(world.device.seats);
    memset(&world, 0, sizeof world);
    world.device.seats = cpu_seats_create(2);
    make_queue(variant, parks);
    make_workers(blocks, parks);
    world.all = variant >> 4 & 1 ? MANY : FEW;
    world.running = 2 + calls;
    machine_thread("sender", send_all, NULL);
    machine_thread("receiver", receive_all, NULL);
    if (calls)
        machine_thread("caller", call, NULL);
}

static bool holds(void)
{
    const uint32_t inside = world.queue->state.inside;
    if (world.received != world.all)
        printf("%u of %u replies were received\n", world.received, world.all);
    if (inside) /* gyre_queue_destroy would wait for them */
        printf("%u threads count as inside of the queue, and none is\n", inside);
    return world.received == world.all && !inside;
}

const struct scenario scenario_queue = {"queue", begin, holds};
