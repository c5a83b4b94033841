/* SPDX-License-Identifier: Apache-2.0 */
/* Describes an epoch (a batch of requests) for the device, and spreads its messages over lanes. */
#ifndef GYRE_OPENCL_SHAPE_H
#define GYRE_OPENCL_SHAPE_H

#include "backends/opencl/epochs/opencl_epoch.h"

/** Describes an epoch for the device, except its spread over lanes. */
void opencl_tell_epoch(const gyre_resident *resident, const struct opencl_epoch *epoch, gyre_epoch *told);

/**
 * Chooses which lane handles which messages, and the work-items of the launch: all of them, and of a group. A
 * group gets at most `each` messages of a bridged queue (its messages are stored back to back).
 */
void opencl_shape(const gyre_resident *resident, uint32_t each, gyre_epoch *epoch, size_t *global,
                  size_t *local);
/**
 * Describes what is the same in every launch: clock, buffers, names. Other members are zero, except `mask`,
 * which is all ones.
 */
void opencl_describe(const gyre_resident *resident, gyre_epoch *told);

#endif
