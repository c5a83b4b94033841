/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that sends requests and waits for their replies may handle them itself, where the device lets it. Then no other thread has to be
 * woken. Only kernels that gyre_launch_helped launched can be helped. Threads: any.
 */
#ifndef GYRE_CORE_KERNEL_HELP_H
#define GYRE_CORE_KERNEL_HELP_H

#include "core/kernel/kernel.h"

/**
 * Handles the requests that wait for the kernel in the calling thread, for as long as their handlers take: a handler that does not return
 * keeps the thread, and gyre_kernel_release tells of it as of any other. The queue that sent the requests may be quiet (gyre_queue_set_quiet).
 * UNIMPLEMENTED: the kernel cannot be helped. AGAIN: the kernel has no device side at this moment, because a swap or a move exchanges it.
 * Neither sets a sentence, and after both the caller rings the bell (gyre_queue_ring_doorbell).
 */
gyre_status gyre_kernel_help(gyre_kernel *kernel);
/** Says whether the kernel may be helped. Called before its launch. */
static inline void gyre_kernel_set_helped(gyre_kernel *kernel, bool helped)
{
    kernel->helped = helped;
}
/** Whether the kernel was launched to be helped. */
static inline bool gyre_kernel_may_be_helped(const gyre_kernel *kernel)
{
    return kernel->helped;
}
/**
 * Waits until the handlers have returned of all threads that began to help before `resident` became NULL. Under the lock, which is given up
 * meanwhile.
 */
void gyre_kernel_await_helpers(gyre_kernel *kernel);

#endif
