/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that return only once their kernel has left, and the thread that makes such a launch. */
#ifndef GYRE_CUDA_SERIAL_H
#define GYRE_CUDA_SERIAL_H

#include "cuda_resident.h"

/** Whether the environment says that launches wait for their kernels. If so, a sentence goes to the log. */
bool cuda_serial_expected(const gyre_host *host);
/**
 * Launches the kernel: in the calling thread, or, where a launch waits for its kernel, in a thread of the resident's own
 * (cuda_launcher_await). The first launch finds out which way it is. Under residents->lock, context current.
 */
gyre_status cuda_serial_start(gyre_resident *resident);
/** Waits for the thread's launch to return. AGAIN when it has not after so long, else the result of the launch. */
gyre_status cuda_launcher_await(gyre_resident *resident, uint64_t patience_ns);
/** Ends the thread, after its kernel has left. Accepts a resident without a thread. */
void cuda_launcher_destroy(gyre_resident *resident);

#endif
