/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How busy each block of a kernel is: in which share of the last second it was at messages. Blocks pay nothing for it. Their lines in the
 * control region say whether they are at messages now (gyre_control_block.working), and the watchdog's thread reads that word now and then.
 */
#ifndef GYRE_CORE_KERNEL_BUSY_H
#define GYRE_CORE_KERNEL_BUSY_H

#include "core/kernel/kernel.h"

/** Makes room for what looks find, so that none of them allocates. Without memory nothing is known of the kernel. */
void gyre_kernel_busy_begin(gyre_kernel *kernel);
/**
 * Looks which blocks are at messages now. Returns whether the kernel handled messages lately, so that it is to be looked at again soon.
 * Of a kernel that has not, a look at times is enough. Waits for nobody: without effect while another thread has the lock.
 */
bool gyre_kernel_busy_look(gyre_kernel *kernel, uint64_t now);
/** Writes into the observation file what the looks found. Under the lock. */
void gyre_kernel_busy_tell(const gyre_kernel *kernel);

#endif
