/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for other threads that work on a kernel's device side, and for the device. "The lock" is kernel->lock. */
#ifndef GYRE_CORE_KERNEL_TURN_H
#define GYRE_CORE_KERNEL_TURN_H

#include "core/kernel/kernel.h"

/** Waits while another thread takes the device side up or down, or copies the state. Under the lock, given up meanwhile. */
void gyre_kernel_await_turn(gyre_kernel *kernel);
/**
 * Waits until every block obeyed the last command, even if the kernel is revived in another worker process meanwhile.
 * Under the lock, given up meanwhile.
 */
gyre_status gyre_kernel_await_obeyed(gyre_kernel *kernel, uint64_t deadline_ns);
/**
 * Waits until every handler that runs at the time of the call has returned. Takes the lock. TIMEOUT when a handler does
 * not return within stop_timeout_ms.
 */
gyre_status gyre_kernel_await_boundary(gyre_kernel *kernel);

#endif
