/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a kernel is on its device. All under residents->lock, context current. */
#ifndef GYRE_CUDA_PRESENCE_H
#define GYRE_CUDA_PRESENCE_H

#include "cuda_resident.h"

/** Looking for its end this long does not sleep: a kernel that leaves takes some 10 us. */
#define CUDA_EAGER_NS UINT64_C(200000)

/** Puts it onto the device; its positions are in its memory. */
gyre_status cuda_resident_start(gyre_resident *resident);
/** Back onto the device for one that left it for a moment. OK also when that is tried again. */
gyre_status cuda_resident_come_back(gyre_resident *resident);
/** OK: it is not on the device; AGAIN: it is; LOST: a fault of the device ended it. Others: its launch was refused, for
 * good, which shows here where launches wait for their kernel. */
gyre_status cuda_resident_look(gyre_resident *resident);
/** The same until the deadline, with TIMEOUT for AGAIN. */
gyre_status cuda_resident_await(gyre_resident *resident, uint64_t deadline_ns);
/** Those who wait for it give up. `why` in few words. */
void cuda_resident_tell_lost(gyre_resident *resident, const char *why);

#endif
