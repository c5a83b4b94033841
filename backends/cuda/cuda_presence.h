/* SPDX-License-Identifier: Apache-2.0 */
/* The presence of a kernel on its device. All functions under residents->lock, context current. */
#ifndef GYRE_CUDA_PRESENCE_H
#define GYRE_CUDA_PRESENCE_H

#include "cuda_resident.h"

/** A wait for the end of a kernel does not sleep for so long: a kernel that leaves takes some 10 us. */
#define CUDA_EAGER_NS UINT64_C(200000)

/** Puts the kernel onto the device. It goes on from the positions in its memory. */
gyre_status cuda_resident_start(gyre_resident *resident);
/** Puts a kernel back that left the device for a moment. OK also when the driver refused and it is tried again. */
gyre_status cuda_resident_come_back(gyre_resident *resident);
/**
 * OK: the kernel is not on the device. AGAIN: it is. LOST: a fault of the device ended it. Others: the driver refused
 * its launch for good, which shows here where launches wait for their kernel.
 */
gyre_status cuda_resident_look(gyre_resident *resident);
/** The same until the deadline, with TIMEOUT for AGAIN. */
gyre_status cuda_resident_await(gyre_resident *resident, uint64_t deadline_ns);
/** Tells everybody who waits for the kernel to give up. `why` in few words. */
void cuda_resident_tell_lost(gyre_resident *resident, const char *why);

#endif
