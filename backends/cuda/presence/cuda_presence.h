/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The presence of a kernel on its device: cuda_resident_start puts it there, the other functions see it leave
 * and bring it back. The caller of each function holds residents->lock, and the context is current.
 */
#ifndef GYRE_CUDA_PRESENCE_H
#define GYRE_CUDA_PRESENCE_H

#include "backends/cuda/cuda_resident.h"

/**
 * How long a wait for the end of a kernel polls without sleeping between polls. A kernel that leaves takes
 * some 10 us.
 */
#define CUDA_EAGER_NS UINT64_C(200000)

/** Puts the kernel onto the device. The kernel goes on from the positions in its memory. */
gyre_status cuda_resident_start(gyre_resident *resident);
/**
 * Puts a kernel back that left the device for a moment. Also OK when the driver refused and the monitor will
 * try again.
 */
gyre_status cuda_resident_come_back(gyre_resident *resident);
/**
 * Returns OK when the kernel is not on the device, AGAIN while it is, LOST when a fault of the device ended
 * it. Another status: the driver refused its launch for good, which shows here where launches wait for their
 * kernel (cuda_serial.h).
 */
gyre_status cuda_resident_look(gyre_resident *resident);
/** Repeats cuda_resident_look until the deadline. Returns TIMEOUT in place of AGAIN. */
gyre_status cuda_resident_await(gyre_resident *resident, uint64_t deadline_ns);
/** Tells everybody who waits for the kernel to give up. `why` is a reason of few words. */
void cuda_resident_tell_lost(gyre_resident *resident, const char *why);

#endif
