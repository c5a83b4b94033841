/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that stands at a message boundary while what it keeps is copied, and goes on: for checkpoints, and for
 * reads of its state. Whoever has it stand has `turn.saving`. All under the lock.
 */
#ifndef GYRE_CORE_KERNEL_STANDSTILL_H
#define GYRE_CORE_KERNEL_STANDSTILL_H

#include "core/device/runtime.h"

/**
 * AGAIN while it is being brought back: requests behind a gate are being handed out one by one, which a pause would
 * disturb.
 */
gyre_status gyre_standstill_check(const gyre_kernel *kernel);
/**
 * Has a kernel that runs pause, and waits, with the lock given up, until no block is inside a handler. AGAIN: another
 * thread changes it or it was brought back meanwhile; TIMEOUT: a handler does not return; LOST. Whatever comes of it,
 * gyre_standstill_end follows.
 */
gyre_status gyre_standstill_begin(gyre_kernel *kernel, uint64_t deadline_ns);
/** Has it go on, if it ran, and is the one that was paused: `generation` is of then. */
void gyre_standstill_end(gyre_kernel *kernel, uint64_t generation);

#endif
