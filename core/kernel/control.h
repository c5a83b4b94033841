/* SPDX-License-Identifier: Apache-2.0 */
/* The control region of a kernel and its word. Under kernel->lock, unless it says otherwise. */
#ifndef GYRE_CORE_KERNEL_CONTROL_H
#define GYRE_CORE_KERNEL_CONTROL_H

#include "core/kernel/kernel.h"

gyre_status gyre_control_create(gyre_kernel *kernel);
/** Zeroes the lines of the device for another launch. */
void gyre_control_reset(gyre_kernel *kernel);
/** Tells the device what to do (an enum gyre_verb), also when only the queue table changed. */
void gyre_control_order(gyre_kernel *kernel, uint64_t verb);
/** What a wait for the device gives way to. */
enum gyre_control_yield {
    GYRE_YIELD_TO_NOTHING,
    GYRE_YIELD_TO_STOP, /* CLOSED as soon as the kernel is being terminated */
    GYRE_YIELD_TO_TURN, /* ... or another thread waits for its turn */
};
/**
 * Waits until every block obeyed the last command, or one after it. The lock is given up meanwhile; the
 * kernel is not freed before the wait is over. TIMEOUT, LOST, CLOSED.
 */
gyre_status gyre_control_acknowledged(gyre_kernel *kernel, enum gyre_control_yield yield,
                                      uint64_t deadline_ns);
const gyre_control_block *gyre_control_blocks(const gyre_kernel *kernel);
/** The device died for good; one in a worker process that
 * died is replaced, unless the kernel was given up. */
bool gyre_control_is_lost(const gyre_kernel *kernel);
/** The verb of the last command. */
uint64_t gyre_control_verb(const gyre_kernel *kernel);

#endif
