/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits until this thread may take the device side of a kernel up or down, or until the device obeyed.
 * Lock: kernel->lock, given up meanwhile.
 */
#include "core/kernel/turn.h"

#include "core/base/error.h"
#include "core/kernel/control.h"

void gyre_kernel_await_turn(gyre_kernel *kernel)
{
    kernel->turn.inside++;
    __atomic_fetch_add(&kernel->turn.wanted, 1, __ATOMIC_ACQ_REL); /* a checkpoint gives way */
    while (gyre_kernel_is_taken(kernel))
        pthread_cond_wait(&kernel->changed, &kernel->lock);
    __atomic_fetch_sub(&kernel->turn.wanted, 1, __ATOMIC_ACQ_REL);
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed); /* for a thread that frees the kernel */
}

gyre_status gyre_kernel_await_obeyed(gyre_kernel *kernel, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t generation = kernel->generation;
        gyre_status status = gyre_control_acknowledged(kernel, GYRE_YIELD_TO_STOP, deadline_ns);
        bool anew = kernel->checkpoints && (kernel->turn.starting || kernel->generation != generation);
        if (status != GYRE_OK || !anew)
            return status;
        gyre_kernel_await_turn(kernel); /* the blocks may have obeyed a command of the replay */
    }
}

gyre_status gyre_kernel_await_boundary(gyre_kernel *kernel)
{
    gyre_status status = GYRE_OK;
    pthread_mutex_lock(&kernel->lock);
    gyre_kernel_await_turn(kernel);
    const uint64_t generation = kernel->generation;
    if (kernel->resident) {
        gyre_control_order(kernel, gyre_control_verb(kernel));
        status = gyre_control_came_back(kernel, GYRE_YIELD_TO_STOP);
    }
    if (status ==
        GYRE_CLOSED) { /* the kernel is being terminated, which ends at a message boundary as well */
        gyre_kernel_await_turn(kernel);
        /* another generation: the kernel ended, and was launched again before this thread had its turn */
        status = kernel->resident && kernel->generation == generation
                     ? gyre_error_set(GYRE_TIMEOUT, "a handler of kernel '%s' does not return", kernel->name)
                     : GYRE_OK;
    }
    pthread_mutex_unlock(&kernel->lock);
    return status == GYRE_LOST ? GYRE_OK : status;
}
