/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places of queues on a device (queue_home.h). The ring itself, memory of this program that other programs map, stays where it
 * is. Lock: kernel->lock for what a queue says of its place.
 */
#include "core/kernel/queue_home.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"

static gyre_status show_ring(struct gyre_dispatch *device, const gyre_queue *queue, void **memory,
                             uint64_t *address)
{
    gyre_queue_memory *made = NULL;
    const struct gyre_region *const region = &gyre_ring_of(queue)->region;
    const gyre_queue_memory_desc desc = {.size = sizeof desc,
                                         .address = region->address,
                                         .region_size = region->size,
                                         .descriptor = region->descriptor};
    const gyre_status status = gyre_dispatch_queue_alloc(device, &desc, &made, address);
    *memory = made;
    return status;
}

gyre_status gyre_queue_homes_check(const gyre_kernel *kernel)
{
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        if (gyre_ring_of(queue)->bytes || gyre_view_of(queue)->span_memory)
            return gyre_error_set(
                GYRE_UNIMPLEMENTED,
                "kernel '%s' cannot move while it is used: its queue '%s' has %s; end the kernel and launch it "
                "on the other device, or set %s for the queue",
                kernel->name, gyre_queue_name(queue),
                gyre_ring_of(queue)->bytes ? "messages back to back, which is of its device"
                                           : "memory for large spans on its device",
                gyre_ring_of(queue)->bytes ? "layout = slots" : "no memory for spans");
    return GYRE_OK;
}

gyre_status gyre_queue_homes_create(gyre_kernel *kernel, struct gyre_dispatch *device,
                                    struct gyre_queue_homes *out)
{
    gyre_status status = gyre_queue_homes_check(kernel);
    size_t count = 0;
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        count++;
    *out = (struct gyre_queue_homes){.device = device, .homes = calloc(count + 1, sizeof *out->homes)};
    if (!out->homes)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to move %zu queues", count);
    for (gyre_queue *queue = kernel->queues.first; status == GYRE_OK && queue;
         queue = gyre_view_of(queue)->next) {
        struct gyre_queue_home *home = &out->homes[out->count];
        home->queue = queue;
        status = show_ring(device, queue, &home->memory, &home->address);
        out->count += status == GYRE_OK;
    }
    return status;
}

void gyre_queue_homes_exchange(struct gyre_queue_homes *homes)
{
    struct gyre_dispatch *const device = homes->device;
    for (size_t i = 0; i < homes->count; i++) {
        struct gyre_queue_home *home = &homes->homes[i];
        struct gyre_queue_view *view = gyre_view_for(home->queue);
        const struct gyre_queue_home was = {home->queue, view->device_memory, view->device_address};
        homes->device = view->device;
        view->device = device;
        view->device_memory = home->memory;
        view->device_address = home->address;
        *home = was;
    }
}

void gyre_queue_homes_destroy(struct gyre_queue_homes *homes)
{
    for (size_t i = 0; i < homes->count; i++)
        gyre_dispatch_queue_release(homes->device, homes->homes[i].memory);
    free(homes->homes);
    *homes = (struct gyre_queue_homes){NULL, NULL, 0};
}

gyre_status gyre_queue_take_home(const gyre_kernel *kernel, gyre_queue *queue)
{
    struct gyre_queue_view *view = gyre_view_for(queue);
    void *memory = NULL;
    uint64_t address = 0;
    if (view->device == kernel->dispatch)
        return GYRE_OK;
    const gyre_status status = show_ring(kernel->dispatch, queue, &memory, &address);
    if (status != GYRE_OK)
        return status;
    gyre_dispatch_queue_release(view->device, view->device_memory);
    view->device = kernel->dispatch;
    view->device_memory = memory;
    view->device_address = address;
    return GYRE_OK;
}

bool gyre_queues_are_in_order(const gyre_kernel *kernel)
{
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        if (gyre_queue_end_of_overtaken(queue) != gyre_queue_first_unanswered(queue))
            return false;
    return true;
}
