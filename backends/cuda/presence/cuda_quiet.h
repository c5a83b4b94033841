/* SPDX-License-Identifier: Apache-2.0 */
/* Quiet moments: no kernel is on the device, so that a call into the driver does not wait for one. */
#ifndef GYRE_CUDA_QUIET_H
#define GYRE_CUDA_QUIET_H

#include "backends/cuda/cuda_resident.h"

/**
 * Begins and ends a quiet moment. Between the two calls no kernel is resident on the device, so the caller
 * may make calls that would wait for resident kernels. Each resident kernel leaves at a message boundary and
 * comes back afterwards. One thread at a time; not recursive. After `begin` the context is current. If
 * `begin` fails, `end` must not be called.
 */
gyre_status cuda_quiet_begin(gyre_device *device);
/** The same, and fails when a handler keeps its kernel on the device until `deadline_ns`. */
gyre_status cuda_quiet_begin_until(gyre_device *device, uint64_t deadline_ns);
gyre_status cuda_quiet_end(gyre_device *device);

/**
 * Begins and ends work with the driver that waits for no kernel by itself. Makes the context current. Where
 * launches serialise (cuda_serial.h), any call into the driver may wait for resident kernels, so there the
 * work is done in a quiet moment. `begin` says so in `quiet`, which the caller hands to `end`.
 */
gyre_status cuda_work_begin(gyre_device *device, bool *quiet);
void cuda_work_end(gyre_device *device, bool quiet);
/** Does what cuda_work_begin does, and holds residents->lock until cuda_hold_end in either case. */
gyre_status cuda_hold_begin(gyre_device *device, bool *quiet);
void cuda_hold_end(gyre_device *device, bool quiet);

/**
 * Gives the device to the next kernel where launches serialise (one kernel has the device at a time). Once no
 * kernel is on the device, the kernel that was away longest comes back. The caller holds residents->lock, and
 * the context is current.
 */
gyre_status cuda_give_turn(struct cuda_residents *residents);
/**
 * Brings back a kernel that was told to leave and was not told to stop: at once or, where launches serialise,
 * in its turn. The caller holds residents->lock, and the context is current.
 */
gyre_status cuda_resident_return(gyre_resident *resident);

#endif
