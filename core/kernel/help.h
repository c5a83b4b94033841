/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that sends requests and waits for their replies may handle them itself, where the device lets it: nobody has to be woken. For
 * kernels that were launched for that (gyre_launch_helped). Threads: any.
 */
#ifndef GYRE_CORE_KERNEL_HELP_H
#define GYRE_CORE_KERNEL_HELP_H

#include "core/kernel/kernel.h"

/**
 * Handles the requests that wait for the kernel in the calling thread, for as long as their handlers take: a handler that does not return
 * keeps the thread, and gyre_kernel_release tells of it as of any other. They may have been sent by a queue that is quiet
 * (gyre_queue_set_quiet). Otherwise the caller rings the bell (gyre_queue_ring_doorbell): UNIMPLEMENTED, the kernel cannot be helped; AGAIN,
 * it has no device side at this moment, as while that is exchanged for another one. Both without a sentence.
 */
gyre_status gyre_kernel_help(gyre_kernel *kernel);
/** Before the launch. */
static inline void gyre_kernel_set_helped(gyre_kernel *kernel, bool helped)
{
    kernel->helped = helped;
}
/** Whether the kernel was launched to be helped. */
static inline bool gyre_kernel_may_be_helped(const gyre_kernel *kernel)
{
    return kernel->helped;
}
/** Waits until no thread helps that found the device side before it was taken off. Its handlers have returned. Under the lock, given up meanwhile. */
void gyre_kernel_await_helpers(gyre_kernel *kernel);

#endif
