/* SPDX-License-Identifier: Apache-2.0 */
/* Device buffers that messages name. */
#ifndef GYRE_CORE_KERNEL_HANDLES_H
#define GYRE_CORE_KERNEL_HANDLES_H

#include "core/device/buffer.h"
#include "core/kernel/kernel.h"

/** Writes the table of a kernel anew: before others can see it, and after addresses changed. */
void gyre_handles_refresh(gyre_kernel *kernel);
/** Takes a buffer's name back and waits until no handler uses it: TIMEOUT when one may. */
gyre_status gyre_handles_withdraw(gyre_buffer *buffer);
/** A handler of this kernel does not return: no buffer that it may have by name is ever freed. */
void gyre_handles_keep(const gyre_kernel *kernel);
/** Asks the device again where its named buffers are. */
void gyre_handles_relocate(gyre_runtime *runtime, const struct gyre_dispatch *dispatch);

#endif
