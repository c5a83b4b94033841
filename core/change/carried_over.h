/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel keeps, copied straight onto the device that it moves to, where the two devices reach each other or one of them is memory of
 * this process. Call without kernel->lock, while no handler of the kernel runs.
 */
#ifndef GYRE_CORE_CHANGE_CARRIED_OVER_H
#define GYRE_CORE_CHANGE_CARRIED_OVER_H

#include "core/change/changing.h"

/** Whether the bytes of a move go from device to device without a copy in this program. Constant for a change, behind _prepare. */
bool gyre_carried_over_can(const struct gyre_kernel_change *change);
/**
 * Makes the first copy between the devices, which may take longer than others and have their kernels make room. The kernel's handler
 * may run: the bytes that are copied count for nothing. Where it fails, the bytes of the change go through this program.
 */
void gyre_carried_over_prepare(struct gyre_kernel_change *change);
/** Copies the state and all buffers onto the other device; the old device keeps what it has. Fails as a transfer does. */
gyre_status gyre_carried_over(const struct gyre_kernel_change *change);

#endif
