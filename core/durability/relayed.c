/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the queue of a kernel that takes requests of other programs and keeps them (the target), and plans those programs'
 * rings. The relay of core/attach carries the requests from the rings into the target. No locks of its own.
 */
#include "core/durability/relayed.h"

#include <string.h>

#include "core/base/error.h"
#include "core/kernel/kernel_queue.h"
#include "core/queue/convert.h"
#include "core/queue/line.h"
#include "core/queue/origin.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/stages/log.h"

bool gyre_kernel_relays(const gyre_kernel *kernel, const char *section)
{
    return kernel->checkpoints || gyre_kernel_queue_setting(kernel, section, "durability") != 0;
}

/* True when the queue takes the requests of the section. A kernel with checkpoints takes all in its main queue, because it
 * handles requests again in the order of one queue. In another kernel each section has a queue of its own. */
static bool is_target(const gyre_kernel *kernel, const gyre_queue *queue, const char *section)
{
    return kernel->checkpoints ? queue == kernel->queues.main : strcmp(gyre_queue_name(queue), section) == 0;
}

/* Enters the target, if it is open. A thread that closes the queue takes it off the list under the lock, and frees it only when
 * no thread is inside. */
static gyre_queue *enter_target(gyre_kernel *kernel, const char *section)
{
    bool inside = false;
    pthread_mutex_lock(&kernel->lock);
    gyre_queue *queue = kernel->queues.first;
    while (queue && !is_target(kernel, queue, section))
        queue = gyre_view_of(queue)->next;
    if (queue)
        gyre_queue_stay(queue, GYRE_FOREVER, &inside);
    pthread_mutex_unlock(&kernel->lock);
    return queue;
}

/* Opens the target. Of two clients that come at once, the second one finds the queue that the first one opened. */
static gyre_status open_target(gyre_kernel *kernel, const char *section, gyre_queue **out)
{
    const gyre_queue_desc desc = {.size = sizeof desc, .name = section};
    gyre_queue *opened = NULL;
    if (kernel->checkpoints)
        return gyre_error_set(GYRE_CLOSED,
                              "the queue of kernel '%s' was closed, and with checkpoints it has no other one",
                              kernel->name);
    gyre_status status = gyre_kernel_add_queue(kernel, &desc, &opened);
    *out = status == GYRE_OK || status == GYRE_INVALID ? enter_target(kernel, section) : NULL;
    if (*out)
        return GYRE_OK;
    return status == GYRE_OK ? gyre_error_set(GYRE_CLOSED, "queue '%s' of kernel '%s' was closed meanwhile",
                                              section, kernel->name)
                             : status;
}

/* An error when the target cannot take requests of other programs. */
static gyre_status check_target(const gyre_kernel *kernel, const gyre_queue *target, const char *section)
{
    if (!gyre_log_of(target))
        return gyre_error_set(GYRE_INVALID,
                              "queue '%s' of kernel '%s' is configured with durability = journal and was "
                              "opened without: close it first",
                              section, kernel->name);
    if (gyre_queue_has_line(target) || !gyre_ways_of(target)->many_threads)
        return gyre_error_set(GYRE_UNIMPLEMENTED,
                              "queue '%s' of kernel '%s' keeps what is sent, and has %s: other programs can "
                              "attach to it without that",
                              gyre_queue_name(target), kernel->name,
                              gyre_queue_has_line(target) ? "levels of priority" : "threads = one");
    return GYRE_OK;
}

gyre_status gyre_kernel_relay_target(gyre_kernel *kernel, const char *section, gyre_queue **out)
{
    gyre_status status = GYRE_OK;
    *out = enter_target(kernel, section);
    if (!*out)
        status = open_target(kernel, section, out);
    if (status != GYRE_OK)
        return status;
    status = check_target(kernel, *out, section);
    if (status == GYRE_OK)
        status = gyre_origins_create(*out);
    if (status != GYRE_OK)
        gyre_queue_leave(*out, true);
    return status;
}

/* An error when a slot's bytes cannot be copied as they are. */
static gyre_status check_fit(const gyre_kernel *kernel, const gyre_queue *target,
                             const struct gyre_queue_options *options, const char *section)
{
    if (options->request_size == gyre_ring_of(target)->request_size &&
        options->reply_size == gyre_ring_of(target)->reply_size &&
        (options->wire != 0) == gyre_queue_has_packets(target) &&
        options->header_size == gyre_ring_of(target)->slots.header_size)
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID,
                          "[queue.%s] has another header or form of messages than queue '%s' of kernel '%s', "
                          "into which its requests go: configure both alike",
                          section, gyre_queue_name(target), kernel->name);
}

gyre_status gyre_kernel_plan_relayed(const gyre_kernel *kernel, const gyre_queue *target,
                                     const gyre_queue_desc *desc, const char *section,
                                     struct gyre_queue_options *options)
{
    gyre_status status = gyre_kernel_plan_ring(kernel, desc, section, true, options);
    if (status != GYRE_OK)
        return status;
    options->device_wakes = true; /* the server rings */
    options->device_returns = false;
    options->device_parks = false;
    options->timed = options->sealed = false; /* the kernel's queue has these */
    options->tells_covered = gyre_log_of(target)->keeps;
    options->tells_durable = gyre_view_of(target)->durable != NULL;
    status = check_fit(kernel, target, options, section);
    if (status == GYRE_OK)
        return status;
    gyre_queue_growth_finish(&options->request_growth);
    gyre_queue_growth_finish(&options->reply_growth);
    return status;
}
