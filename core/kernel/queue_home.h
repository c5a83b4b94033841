/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the rings of a kernel's queues visible to another device, for a kernel that moves there. "The lock" is kernel->lock. */
#ifndef GYRE_CORE_KERNEL_QUEUE_HOME_H
#define GYRE_CORE_KERNEL_QUEUE_HOME_H

#include "core/kernel/kernel.h"

/** The places of a kernel's queues on one device, in the order of the kernel's list. */
struct gyre_queue_homes {
    struct gyre_dispatch *device;
    struct gyre_queue_home {
        gyre_queue *queue;
        void *memory;
        uint64_t address;
    } * homes;
    size_t count;
};

/** UNIMPLEMENTED when a queue of the kernel has something of its device that does not move. Under the lock. */
gyre_status gyre_queue_homes_check(const gyre_kernel *kernel);
/**
 * Makes each queue of the kernel visible to `device`. No queue is opened or closed meanwhile, because the caller set turn.starting.
 * Without the lock. The caller owns *out, even after a failure.
 */
gyre_status gyre_queue_homes_create(gyre_kernel *kernel, struct gyre_dispatch *device,
                                    struct gyre_queue_homes *out);
/** Gives each queue its place in `homes`, which then has the place that the queue had. No device runs. Under the lock. */
void gyre_queue_homes_exchange(struct gyre_queue_homes *homes);
/** Gives the places in `homes` up. */
void gyre_queue_homes_destroy(struct gyre_queue_homes *homes);

/** Takes one queue, which is in no list, to the kernel's present device, unless it is there. No device uses it. */
gyre_status gyre_queue_take_home(const gyre_kernel *kernel, gyre_queue *queue);

/**
 * Whether a device that cannot skip answered requests (can_skip) could go on: no request behind an unanswered one is answered. A
 * kernel stands. Under the lock.
 */
bool gyre_queues_are_in_order(const gyre_kernel *kernel);

#endif
