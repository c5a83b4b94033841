/* SPDX-License-Identifier: Apache-2.0 */
/* Quiet moments: no kernel is on the device. */
#ifndef GYRE_CUDA_QUIET_H
#define GYRE_CUDA_QUIET_H

#include "cuda_resident.h"

/**
 * Between the two no kernel is resident on the device, so the caller may make calls that would wait for resident
 * kernels. Each resident kernel leaves at a message boundary and comes back afterwards. Serialised; not recursive.
 * When `begin` fails, `end` must not be called. The context is current after `begin`.
 */
gyre_status cuda_quiet_begin(gyre_device *device);
gyre_status cuda_quiet_end(gyre_device *device);

/**
 * Around other work with the driver. Makes the context current. Where launches serialise (cuda_serial.h), any
 * call into the driver may wait for resident kernels, so the work is done in a quiet moment. The caller hands
 * `quiet` from `begin` to `end`.
 */
gyre_status cuda_work_begin(gyre_device *device, bool *quiet);
void cuda_work_end(gyre_device *device, bool quiet);
/** The same with residents->lock held between the two in either case. */
gyre_status cuda_hold_begin(gyre_device *device, bool *quiet);
void cuda_hold_end(gyre_device *device, bool quiet);

/**
 * Where launches serialise, one kernel has the device at a time: once no kernel has it, the kernel that was away
 * longest comes back. Under residents->lock, context current.
 */
gyre_status cuda_give_turn(struct cuda_residents *residents);
/**
 * Brings a kernel back that was told to leave and was not told to stop: at once, or, where launches serialise, in its
 * turn. Under residents->lock, context current.
 */
gyre_status cuda_resident_return(gyre_resident *resident);

#endif
