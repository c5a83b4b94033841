/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper of a kernel: whoever keeps the kernel's state and its queues' requests for a time when the device, or the
 * program, has died. The kernel calls this table at the points of its life that the keeper has to know of, and knows
 * nothing else of the keeper.
 *
 * "The lock" is kernel->lock.
 */
#ifndef GYRE_CORE_KERNEL_KEEPER_H
#define GYRE_CORE_KERNEL_KEEPER_H

#include "core/kernel/kernel.h"

struct gyre_durable; /* the journal of a queue */

struct gyre_keeper {
    /**
     * The device's memory holds the initial state, and the device is about to be launched. Afterwards it may hold a
     * state of an earlier run. Without the lock.
     */
    gyre_status (*begin)(gyre_kernel *kernel);
    /**
     * The device was launched, and serves no queue yet. Has it handle again what a journal says. LOST when the device
     * died meanwhile. Under the lock, given up a while.
     */
    gyre_status (*replay)(gyre_kernel *kernel, gyre_resident *resident);
    /** The kernel runs: what an earlier run left is not needed any more. Under the lock. */
    void (*running)(gyre_kernel *kernel);
    /** The device has left in order, and its resident is not released yet. Under the lock, given up meanwhile. */
    void (*left)(gyre_kernel *kernel);
    /** The kernel is about to be ended for good: ends the keeper's thread. Without the lock. */
    void (*stop)(gyre_kernel *kernel);
    /** The kernel's queues are freed, and nobody else has the kernel: frees kernel->checkpoints. */
    void (*destroy)(gyre_kernel *kernel);

    /**
     * As [queue.SECTION] says: opens the journal of a queue that is about to be made. *out is NULL for a queue
     * without one. desc->first_sequence is set to where the queue has to begin.
     */
    gyre_status (*queue_open)(gyre_kernel *kernel, gyre_queue_desc *desc, const char *section,
                              struct gyre_durable **out);
    /**
     * The queue was made, and is in no list yet: gives it what the keeper and its journal (NULL: none) need, and puts
     * into it what the journal says. `durable` is the queue's then, also after a failure. Under the lock.
     */
    gyre_status (*queue_equip)(gyre_kernel *kernel, gyre_queue *queue, struct gyre_durable *durable);
    /** No device is there, and the next one begins behind everything that was sent. Under the lock. */
    void (*queue_rewind)(gyre_kernel *kernel, gyre_queue *queue);
    /** Nobody sends into the queue, and no block takes from it: what it did is kept before it is freed. Without the lock. */
    void (*queue_settle)(gyre_kernel *kernel, gyre_queue *queue);
    /** Ends the thread of a journal, with a last look at its queue, and closes the file. */
    void (*queue_end)(struct gyre_durable *durable);
    /** After its end, when the queue is freed, so that nobody rings the journal's bell. */
    void (*queue_free)(struct gyre_durable *durable);
};

/*
 * The calls of that table. A kernel without a keeper keeps nothing: for it each of them does nothing.
 */

static inline gyre_status gyre_keeper_begin(gyre_kernel *kernel)
{
    return kernel->keeper ? kernel->keeper->begin(kernel) : GYRE_OK;
}

static inline gyre_status gyre_keeper_replay(gyre_kernel *kernel, gyre_resident *resident)
{
    return kernel->keeper ? kernel->keeper->replay(kernel, resident) : GYRE_OK;
}

static inline void gyre_keeper_running(gyre_kernel *kernel)
{
    if (kernel->keeper)
        kernel->keeper->running(kernel);
}

static inline void gyre_keeper_left(gyre_kernel *kernel)
{
    if (kernel->keeper)
        kernel->keeper->left(kernel);
}

static inline void gyre_keeper_stop(gyre_kernel *kernel)
{
    if (kernel->keeper)
        kernel->keeper->stop(kernel);
}

static inline void gyre_keeper_destroy(gyre_kernel *kernel)
{
    if (kernel->keeper)
        kernel->keeper->destroy(kernel);
}

static inline gyre_status gyre_keeper_queue_open(gyre_kernel *kernel, gyre_queue_desc *desc,
                                                 const char *section, struct gyre_durable **out)
{
    return kernel->keeper ? kernel->keeper->queue_open(kernel, desc, section, out) : GYRE_OK;
}

static inline gyre_status gyre_keeper_queue_equip(gyre_kernel *kernel, gyre_queue *queue,
                                                  struct gyre_durable *durable)
{
    return kernel->keeper ? kernel->keeper->queue_equip(kernel, queue, durable) : GYRE_OK;
}

static inline void gyre_keeper_queue_rewind(gyre_kernel *kernel, gyre_queue *queue)
{
    if (kernel->keeper)
        kernel->keeper->queue_rewind(kernel, queue);
}

static inline void gyre_keeper_queue_settle(gyre_kernel *kernel, gyre_queue *queue)
{
    if (kernel->keeper)
        kernel->keeper->queue_settle(kernel, queue);
}

static inline void gyre_keeper_queue_end(const gyre_kernel *kernel, struct gyre_durable *durable)
{
    if (durable)
        kernel->keeper->queue_end(durable);
}

static inline void gyre_keeper_queue_free(const gyre_kernel *kernel, struct gyre_durable *durable)
{
    if (durable)
        kernel->keeper->queue_free(durable);
}

/**
 * Whether the kernel's requests are handled again after the death of its device, one block in the order in which they
 * were handled: nothing behind the first unanswered request counts as done.
 */
static inline bool gyre_kernel_repeats_in_order(const gyre_kernel *kernel)
{
    return kernel->checkpoints && kernel->blocks == 1;
}

#endif
