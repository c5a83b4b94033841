/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel is bound to: buffers, and its state. */
#ifndef GYRE_CORE_KERNEL_BINDING_H
#define GYRE_CORE_KERNEL_BINDING_H

#include "core/kernel/kernel.h"

/** The state of a kernel that was built: memory on its device, and what it begins with. */
gyre_status gyre_kernel_prepare_state(gyre_kernel *kernel, const gyre_launch_desc *desc);
/** Whether the kernel declares every name that something is bound to; INVALID. */
gyre_status gyre_kernel_check_bindings(const gyre_kernel *kernel, const gyre_launch_desc *desc);
/** The buffers, by the names that the kernel declares. INVALID when one is missing, unknown or unfit. */
gyre_status gyre_kernel_bind(gyre_kernel *kernel, const gyre_launch_desc *desc);
/** Counts the kernel in at the buffers that it binds. NOT_FOUND when one was freed since it ended, or is being. */
gyre_status gyre_kernel_hold_buffers(gyre_kernel *kernel);
/** Counts it out again. */
void gyre_kernel_let_buffers_go(gyre_kernel *kernel);
/** A kernel that does not hold it has not got it any more. Under runtime->lock. */
void gyre_kernel_forget_buffer(gyre_kernel *kernel, const gyre_buffer *buffer);

#endif
