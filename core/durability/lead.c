/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads the checkpoints of a pipeline (lead.h): the queues whose requests they cover. Lock: kernel->lock of the kernel that leads.
 */
#include "core/durability/lead.h"

#include "core/base/error.h"
#include "core/durability/checkpoint_life.h"
#include "core/durability/durable_open.h"
#include "core/kernel/kernel_queue.h"
#include "core/stages/log.h"
#include "core/stages/taken.h"

/* ---- the queues of a checkpoint ---- */

/* Of the list from `queue` on: the first that the kernel has to itself; behind the last one the first that it leads. */
static gyre_queue *own_from(const struct gyre_checkpoints *checkpoints, gyre_queue *queue)
{
    while (queue && gyre_view_of(queue)->of_pipeline)
        queue = gyre_view_of(queue)->next;
    return queue ? queue : checkpoints->entry;
}

gyre_queue *gyre_lead_first(const struct gyre_checkpoints *checkpoints, const gyre_kernel *kernel)
{
    return own_from(checkpoints, gyre_kernel_first_queue(kernel));
}

gyre_queue *gyre_lead_next(const struct gyre_checkpoints *checkpoints, const gyre_queue *queue)
{
    return gyre_view_of(queue)->repeater ? gyre_view_of(queue)->led_next
                                         : own_from(checkpoints, gyre_view_of(queue)->next);
}

/* ---- leading ---- */

static gyre_status check_header(const gyre_queue *entry, const gyre_queue *repeater)
{
    const uint32_t its = gyre_ring_of(entry)->slots.header_size,
                   first = gyre_ring_of(repeater)->slots.header_size;
    if (its == first)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "queue '%s' has headers of %u bytes, and all queues of a pipeline with checkpoints have "
        "headers of one size, which is %u: set its header as that of the others",
        gyre_queue_name(entry), its, first);
}

static gyre_status make_log(struct gyre_checkpoints *checkpoints, const struct gyre_led *led)
{
    const struct gyre_durable *durable = gyre_view_of(led->entry)->durable;
    const uint64_t least = durable ? gyre_queue_log_bytes(led->entry, gyre_durable_log_count(durable)) : 0;
    gyre_status status = gyre_queue_log_create(led->entry, led->log_bytes < least ? least : led->log_bytes);
    if (status == GYRE_OK && led->flows)
        status = gyre_taken_create(led->entry, led->flows);
    if (status != GYRE_OK) {
        gyre_queue_log_destroy(led->entry);
        return status;
    }
    gyre_log_of(led->entry)->ask = gyre_checkpoints_ring;
    gyre_log_of(led->entry)->ask_context = checkpoints;
    gyre_queue_log_restart(led->entry, checkpoints->every_messages);
    return GYRE_OK;
}

gyre_status gyre_lead(struct gyre_checkpoints *checkpoints, const struct gyre_led *led)
{
    gyre_status status = check_header(led->entry, led->repeater);
    if (status == GYRE_OK)
        status = make_log(checkpoints, led);
    if (status == GYRE_OK && gyre_view_of(led->entry)->durable)
        status = gyre_durable_attach(gyre_view_of(led->entry)->durable, led->entry);
    if (status != GYRE_OK)
        return status;
    gyre_queue **place = &checkpoints->entry;
    while (*place)
        place = &gyre_view_for(*place)->led_next;
    gyre_view_for(led->entry)->repeater = led->repeater;
    gyre_view_for(led->entry)->led_next = NULL;
    *place = led->entry;
    return GYRE_OK;
}

void gyre_lead_no_more(struct gyre_checkpoints *checkpoints)
{
    while (checkpoints->entry) {
        gyre_queue *entry = checkpoints->entry;
        checkpoints->entry = gyre_view_of(entry)->led_next;
        gyre_view_for(entry)->repeater = gyre_view_for(entry)->led_next = NULL;
        if (!gyre_view_of(entry)->durable) /* else the journal has it until the queue is freed */
            gyre_queue_log_destroy(entry);
    }
}
