/* SPDX-License-Identifier: Apache-2.0 */
/* What the device is told of an epoch, and how its messages are spread over lanes. */
#ifndef GYRE_OPENCL_SHAPE_H
#define GYRE_OPENCL_SHAPE_H

#include "opencl_epoch.h"

/** All that the device is told of an epoch, but how it is spread over lanes. */
void opencl_tell_epoch(const gyre_resident *resident, const struct opencl_epoch *epoch, gyre_epoch *told);

/**
 * Which lane handles which messages, and the work-items of the launch: all, and of a group. Of a bridged
 * queue a group gets at most `each` messages.
 */
void opencl_shape(const gyre_resident *resident, uint32_t each, gyre_epoch *epoch, size_t *global,
                  size_t *local);
/** What every launch tells the device: clock, buffers, names. The rest is zero, and `mask` is all ones. */
void opencl_describe(const gyre_resident *resident, gyre_epoch *told);

#endif
