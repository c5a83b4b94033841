/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a kernel its memory: makes its state, and binds buffers to the names that the kernel declares. */
#ifndef GYRE_CORE_KERNEL_BINDING_H
#define GYRE_CORE_KERNEL_BINDING_H

#include "core/kernel/kernel.h"

/** Makes the state of a kernel that was built: memory on its device, and its initial content. */
gyre_status gyre_kernel_prepare_state(gyre_kernel *kernel, const gyre_launch_desc *desc);
/** INVALID when the descriptor binds a name that the kernel does not declare. */
gyre_status gyre_kernel_check_bindings(const gyre_kernel *kernel, const gyre_launch_desc *desc);
/** Binds the descriptor's buffers to the names that the kernel declares. INVALID when a buffer is missing, unknown or unfit. */
gyre_status gyre_kernel_bind(gyre_kernel *kernel, const gyre_launch_desc *desc);
/**
 * Counts the kernel as a user of its buffers. NOT_FOUND when a buffer was freed since the kernel ended, or is being freed; INVALID when
 * it is on another device; AGAIN while it moves to one.
 */
gyre_status gyre_kernel_hold_buffers(gyre_kernel *kernel);
/** Undoes gyre_kernel_hold_buffers. */
void gyre_kernel_let_buffers_go(gyre_kernel *kernel);
/** Removes a buffer that is being freed from the bindings of a kernel that ended. Under runtime->lock. */
void gyre_kernel_forget_buffer(gyre_kernel *kernel, const gyre_buffer *buffer);

#endif
