/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the queue table in a kernel's control region, which tells the device the queues to serve and their first requests.
 *
 * Lock: the caller has kernel->lock. The next command to the device announces a change. The program never decides by a value
 * from the table, because a worker process may have overwritten it.
 */
#include "core/kernel/queue_table.h"

#include <string.h>

#include "core/dispatch/dispatch.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/ring/bytes.h"
#include "core/ring/express.h"
#include "core/stages/log.h"

/* 0: no device may see the queue yet. */
static uint64_t address_of(const gyre_kernel *kernel, const gyre_queue *queue)
{
    if (gyre_view_of(queue)->of_pipeline && kernel->node.unwired)
        return 0;
    return gyre_dispatch_isolated(kernel->dispatch)
               ? gyre_dispatch_queue_address(kernel->dispatch, gyre_view_of(queue)->device_memory)
               : gyre_view_of(queue)->device_address;
}

/*
 * Writes one entry of the table. A block may read the table for an earlier command meanwhile. So the address is written last:
 * a block that sees the address sees the rest of the entry as well (tests/models/table.pml).
 */
static void write_entry(gyre_kernel *kernel, gyre_queue *queue, uint64_t first, uint64_t address)
{
    gyre_control_region *control = kernel->control;
    gyre_control_queue *slot = &control->queues[gyre_view_of(queue)->table_entry];
    gyre_express_withdraw(gyre_ring_of(queue)); /* the slots may hold other messages now */
    gyre_view_for(queue)->table_first = first;
    __atomic_store_n(&slot->first, first, __ATOMIC_RELAXED);
    if (memcmp(&slot->slots, &gyre_ring_of(queue)->slots, sizeof slot->slots) !=
        0) /* only of a new queue, whose entry has no address yet */
        slot->slots = gyre_ring_of(queue)->slots;
    if (memcmp(&slot->bridge, gyre_bytes_layout(gyre_ring_of(queue)), sizeof slot->bridge) != 0)
        slot->bridge = *gyre_bytes_layout(gyre_ring_of(queue));
    /* tables of links know a queue by its serial: it stays the same when another device gets to see the queue */
    if (!gyre_view_of(queue)->of_pipeline || !gyre_view_of(queue)->table_serial)
        gyre_view_for(queue)->table_serial = ++kernel->queues.serial;
    __atomic_store_n(&slot->serial, gyre_view_of(queue)->table_serial, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->address, address, __ATOMIC_RELEASE); /* pairs with the workers' acquire */
    if (kernel->queues.entries <= gyre_view_of(queue)->table_entry)
        kernel->queues.entries = gyre_view_of(queue)->table_entry + 1;
    __atomic_store_n(&control->command.queue_count, kernel->queues.entries, __ATOMIC_RELEASE);
}

bool gyre_kernel_repeats_in_order(const gyre_kernel *kernel, const gyre_queue *queue)
{
    if (gyre_view_of(queue)
            ->of_pipeline) /* the kernel that leads its pipeline repeats it (core/durability/lead.h) */
        return gyre_log_of(queue) != NULL;
    return kernel->checkpoints && kernel->blocks == 1 && !gyre_queue_log_is_ahead(queue);
}

/* Marks answered requests, so that the next device skips them. A kernel with checkpoints and one block handles requests again
 * in their order, so there only settled requests are marked. */
static void mark_answered(const gyre_kernel *kernel, gyre_queue *queue)
{
    if (!gyre_dispatch_device_info(kernel->dispatch)->can_skip)
        return;
    if (gyre_kernel_repeats_in_order(kernel, queue))
        gyre_queue_mark_settled(queue);
    else
        gyre_queue_mark_answered(queue);
}

void gyre_kernel_write_table(gyre_kernel *kernel, bool resume)
{
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
        uint64_t first = gyre_view_of(queue)->table_first;
        if (resume) {
            gyre_queue_renew(queue);
            gyre_queue_resume_bytes(queue);
            first = gyre_queue_first_unanswered(queue);
            gyre_queue_set_claim(queue, first);
        }
        if (resume)
            mark_answered(kernel, queue);
        write_entry(
            kernel, queue, first,
            !gyre_view_of(queue)->closed && !gyre_view_of(queue)->withdrawn ? address_of(kernel, queue) : 0);
    }
}

void gyre_kernel_write_entry(gyre_kernel *kernel, gyre_queue *queue)
{
    write_entry(kernel, queue, gyre_queue_first_unanswered(queue), address_of(kernel, queue));
}

void gyre_kernel_show_queue(gyre_kernel *kernel, gyre_queue *queue)
{
    if (gyre_view_of(queue)->withdrawn)
        return;
    uint64_t first = gyre_queue_first_unanswered(queue);
    gyre_queue_set_claim(queue, first);
    gyre_queue_renew(queue); /* the queue was left out: no device uses it */
    gyre_queue_resume_bytes(queue);
    mark_answered(kernel, queue);
    write_entry(kernel, queue, first, address_of(kernel, queue));
}

void gyre_kernel_clear_table(gyre_kernel *kernel)
{
    for (uint32_t i = 0; i < GYRE_QUEUES_MAX; i++)
        __atomic_store_n(&kernel->control->queues[i].address, 0, __ATOMIC_RELEASE);
}

void gyre_kernel_show_only(gyre_kernel *kernel, gyre_queue *queue)
{
    gyre_kernel_clear_table(kernel);
    gyre_view_for(queue)->table_entry = 0;
    write_entry(kernel, queue, gyre_queue_next_index(queue), address_of(kernel, queue));
}

void gyre_kernel_close_gate(gyre_queue *queue)
{
    gyre_kernel_set_gate(queue, UINT64_MAX);
    gyre_view_for(queue)->gate = 0;
    gyre_view_for(queue)->closed = true;
}

void gyre_kernel_set_gate(gyre_queue *queue, uint64_t gate)
{
    uint64_t old = gyre_view_of(queue)->closed ? UINT64_MAX : gyre_view_of(queue)->gate;
    gyre_view_for(queue)->gate = gate;
    gyre_view_for(queue)->closed = false;
    if (gate != UINT64_MAX)
        gyre_queue_hide(
            queue,
            gate); /* before the old gate's request is shown, so that the device stops at the new gate */
    if (old != gate && old != UINT64_MAX)
        gyre_queue_show(queue, old);
}
