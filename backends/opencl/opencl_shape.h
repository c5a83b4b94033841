/* SPDX-License-Identifier: Apache-2.0 */
/* The description of an epoch for the device, and the spread of its messages over lanes. */
#ifndef GYRE_OPENCL_SHAPE_H
#define GYRE_OPENCL_SHAPE_H

#include "opencl_epoch.h"

/** Describes an epoch for the device, except its spread over lanes. */
void opencl_tell_epoch(const gyre_resident *resident, const struct opencl_epoch *epoch, gyre_epoch *told);

/**
 * Says which lane handles which messages, and the work-items of the launch: all, and of a group. A group gets at most
 * `each` messages of a bridged queue.
 */
void opencl_shape(const gyre_resident *resident, uint32_t each, gyre_epoch *epoch, size_t *global,
                  size_t *local);
/** Describes what is the same in every launch: clock, buffers, names. The rest is zero, and `mask` is all ones. */
void opencl_describe(const gyre_resident *resident, gyre_epoch *told);

#endif
