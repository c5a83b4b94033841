/* SPDX-License-Identifier: Apache-2.0 */
/* The test device: one thread, no batches, no cleverness. */
#include "ring_device.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"
#include "../../patience.h"

#include "core/queue/life.h"
#include "core/queue/queue.h"
#include "core/ring/layout.h"
#include "core/ring/ring.h"
#include "core/ring/slot.h"
#include "core/stages/make.h"

struct gyre_queue_options ring_options(void)
{
    return (struct gyre_queue_options){.name = "test",
                                       .capacity = 8,
                                       .policy = GYRE_FULL_BLOCK,
                                       .idle = GYRE_WAIT_ADAPTIVE,
                                       .spin_turns = 100,
                                       .many_threads = true,
                                       .device_wakes = true};
}

static void complete(const gyre_queue *queue, uint64_t index)
{
    const gyre_slot *in = gyre_request_slot(gyre_ring_of(queue), index);
    gyre_slot *out = gyre_reply_slot(gyre_ring_of(queue), index);
    const uint64_t *request = (const uint64_t *)(const void *)(in + 1);
    uint64_t *reply = (uint64_t *)(void *)(out + 1);
    out->length = 0;
    if (index < __atomic_load_n(&gyre_ring_of(queue)->shared->host.drop_before, __ATOMIC_ACQUIRE)) {
        out->info = GYRE_OUTCOME_DROPPED;
    } else if (request[0] == FAIL_WORD) {
        gyre_failure failure = {7, "told to fail"};
        memcpy(out + 1, &failure, sizeof failure);
        out->length = sizeof failure;
        out->info = GYRE_OUTCOME_FAILED;
    } else if (request[0] == SILENT_WORD) {
        out->info = GYRE_OUTCOME_NO_REPLY;
    } else if (request[0] == ODD_WORD && in->length > 8) {
        out->info = (uint32_t)request[1];
    } else {
        for (uint32_t i = 0; i < in->length / 8; i++)
            reply[i] = request[i] + 1;
        out->length = in->length;
        out->info = GYRE_OUTCOME_REPLY;
    }
    __atomic_store_n(&out->sequence, index + 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&gyre_ring_of(queue)->shared->host.waiting, __ATOMIC_SEQ_CST))
        gyre_bell_ring(&gyre_ring_of(queue)->shared->device.bell, INT_MAX);
}

static void *serve(void *argument)
{
    struct ring_device *device = argument;
    while (!__atomic_load_n(&device->leave, __ATOMIC_ACQUIRE)) {
        const gyre_slot *slot = gyre_request_slot(gyre_ring_of(device->queue), device->next);
        if (!__atomic_load_n(&device->held, __ATOMIC_ACQUIRE) &&
            __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) == device->next + 1)
            complete(device->queue, device->next++);
        else
            sched_yield();
        __atomic_fetch_add(&device->turns, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

void ring_device_start(struct ring_device *device, struct gyre_queue_options options, uint32_t words)
{
    struct gyre_queue_cost cost; /* what it said beforehand, of every queue of these tests */
    memset(device, 0, sizeof *device);
    device->control = aligned_alloc(GYRE_LINE_SIZE, sizeof *device->control);
    memset(device->control, 0, sizeof *device->control);
    options.control = device->control;
    options.request_size = options.reply_size = words * 8;
    ck_assert_int_eq(gyre_queue_create(&options, &device->queue), GYRE_OK);
    gyre_queue_measure(&options, &cost);
    ck_assert_uint_eq((cost.memory + 4095) / 4096 * 4096,
                      gyre_ring_of(device->queue)->region.size); /* whole pages */
    device->next = options.first_sequence;
    unit_start(&device->thread, serve, device);
}

void ring_device_stop(struct ring_device *device)
{
    if (!__atomic_exchange_n(&device->leave, 1, __ATOMIC_SEQ_CST))
        pthread_join(device->thread, NULL);
}

void ring_device_finish(struct ring_device *device)
{
    ring_device_stop(device);
    gyre_queue_destroy(device->queue);
    free(device->control);
}

void ring_device_hold(struct ring_device *device, bool hold)
{
    __atomic_store_n(&device->held, hold, __ATOMIC_SEQ_CST);
    const uint64_t turn = __atomic_load_n(&device->turns, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&device->turns, __ATOMIC_ACQUIRE) == turn) /* it may have looked at this before */
        sched_yield();
}

void ring_device_send(struct ring_device *device, uint64_t number)
{
    ck_assert_int_eq(gyre_send(device->queue, &number, sizeof number, NULL, gyre_in_ms(patiently(2000))),
                     GYRE_OK);
}

uint64_t ring_device_receive(struct ring_device *device)
{
    uint64_t reply = 0;
    ck_assert_int_eq(gyre_receive(device->queue, &reply, sizeof reply, NULL, gyre_in_ms(patiently(2000))),
                     GYRE_OK);
    return reply;
}

gyre_queue_stats ring_device_stats(const struct ring_device *device)
{
    gyre_queue_stats now = {.size = sizeof now};
    ck_assert_int_eq(gyre_queue_stats_get(device->queue, &now), GYRE_OK);
    return now;
}
