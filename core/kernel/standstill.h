/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pauses a kernel at a message boundary (no handler runs) while its state is copied, for checkpoints and for reads of the
 * state. The thread that pauses the kernel has set turn.saving. Call all functions under kernel->lock.
 */
#ifndef GYRE_CORE_KERNEL_STANDSTILL_H
#define GYRE_CORE_KERNEL_STANDSTILL_H

#include "core/device/runtime.h"

/**
 * AGAIN while the kernel is being revived: recovery hands requests out one by one (core/recovery/careful.c), and a pause would
 * disturb that.
 */
gyre_status gyre_standstill_check(const gyre_kernel *kernel);
/**
 * Pauses a running kernel, and waits until no block is inside a handler. Gives the lock up meanwhile. AGAIN: another thread
 * changed or revived the kernel meanwhile; TIMEOUT: a handler does not return; LOST: the device died. Call
 * gyre_standstill_end afterwards, whatever the result.
 */
gyre_status gyre_standstill_begin(gyre_kernel *kernel, uint64_t deadline_ns);
/** The first half of that: tells a running kernel to pause, and does not wait. */
void gyre_standstill_order(gyre_kernel *kernel);
/** The second half. `generation`: that of the kernel when it was told. */
gyre_status gyre_standstill_await(gyre_kernel *kernel, uint64_t generation, uint64_t deadline_ns);
/** Lets the kernel go on if it ran before the pause. No effect when kernel->generation is not `generation`, its value then. */
void gyre_standstill_end(gyre_kernel *kernel, uint64_t generation);
/** What a kernel begins with in another worker process, which went on with `verb`: a change that waits finds it paused. */
uint64_t gyre_standstill_verb(gyre_kernel *kernel, uint64_t verb);

#endif
