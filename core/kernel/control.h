/* SPDX-License-Identifier: Apache-2.0 */
/* The control region of a kernel, and the command in it. Call under kernel->lock. */
#ifndef GYRE_CORE_KERNEL_CONTROL_H
#define GYRE_CORE_KERNEL_CONTROL_H

#include "core/kernel/kernel.h"

gyre_status gyre_control_create(gyre_kernel *kernel);
/** Zeroes the device's lines of the region for another launch. */
void gyre_control_reset(gyre_kernel *kernel);
/** Writes a new command (an enum gyre_verb) for the device; the same verb again announces a changed queue table. */
void gyre_control_order(gyre_kernel *kernel, uint64_t verb);
/** The events that end a wait for the device early. */
enum gyre_control_yield {
    GYRE_YIELD_TO_NOTHING,
    GYRE_YIELD_TO_STOP, /* CLOSED when the kernel is being terminated */
    GYRE_YIELD_TO_TURN, /* the same, or when another thread waits for its turn */
};
/**
 * Waits until every block obeyed the last command, or a later one. The lock is given up meanwhile; the kernel is not
 * freed before the wait ends. TIMEOUT, LOST, CLOSED.
 */
gyre_status gyre_control_acknowledged(gyre_kernel *kernel, enum gyre_control_yield yield,
                                      uint64_t deadline_ns);
const gyre_control_block *gyre_control_blocks(const gyre_kernel *kernel);
/** True when the device died for good. A dead worker process is replaced, and is no such device unless the kernel was
 * given up. */
bool gyre_control_is_lost(const gyre_kernel *kernel);
/** The verb of the last command (an enum gyre_verb). */
uint64_t gyre_control_verb(const gyre_kernel *kernel);

#endif
