/* SPDX-License-Identifier: Apache-2.0 */
/* Names of device buffers in messages, and the tables in which a device finds a buffer by its name. How: handles.c. */
#ifndef GYRE_CORE_KERNEL_HANDLES_H
#define GYRE_CORE_KERNEL_HANDLES_H

#include "core/device/buffer.h"
#include "core/kernel/kernel.h"

/** Writes a kernel's table of named buffers anew. Call when the kernel is listed, and after addresses of buffers changed. */
void gyre_handles_refresh(gyre_kernel *kernel);
/** Takes a buffer's name back, and waits until no handler uses it. TIMEOUT when a handler may still use it. */
gyre_status gyre_handles_withdraw(gyre_buffer *buffer);
/** For a kernel whose handler does not return: keeps every buffer that the handler may know by name from being freed. */
void gyre_handles_keep(const gyre_kernel *kernel);
/** Asks the device again for the addresses of its named buffers. */
void gyre_handles_relocate(gyre_runtime *runtime, const struct gyre_dispatch *dispatch);

#endif
