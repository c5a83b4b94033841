/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pausing a kernel at a message boundary while its state is copied, for checkpoints and for reads of the state. The thread
 * that pauses the kernel has set `turn.saving`. All under kernel->lock.
 */
#ifndef GYRE_CORE_KERNEL_STANDSTILL_H
#define GYRE_CORE_KERNEL_STANDSTILL_H

#include "core/device/runtime.h"

/**
 * AGAIN while the kernel is being revived: requests behind a gate are handed out one by one, which a pause would disturb.
 */
gyre_status gyre_standstill_check(const gyre_kernel *kernel);
/**
 * Pauses a running kernel, and waits, with the lock given up, until no block is inside a handler. AGAIN: another thread
 * changed the kernel, or it was revived, meanwhile; TIMEOUT: a handler does not return; LOST. gyre_standstill_end has to
 * follow, whatever the result.
 */
gyre_status gyre_standstill_begin(gyre_kernel *kernel, uint64_t deadline_ns);
/** Lets the kernel go on if it ran before, unless it has another generation than at the pause. */
void gyre_standstill_end(gyre_kernel *kernel, uint64_t generation);

#endif
