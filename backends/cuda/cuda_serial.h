/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that return only once their kernel has left, and the thread that makes such a launch. */
#ifndef GYRE_CUDA_SERIAL_H
#define GYRE_CUDA_SERIAL_H

#include "cuda_resident.h"

/** Whether the environment says that launches wait for their kernels; with a sentence for the log. */
bool cuda_serial_expected(const gyre_host *host);
/** Launches the kernel: at once, or, where a launch waits for its kernel, in a thread of the resident's own, which
 * cuda_launcher_await tells of. The first launch finds out which way it is. Under residents->lock, context current. */
gyre_status cuda_serial_start(gyre_resident *resident);
/** Waits for the thread's call to return: AGAIN when it has not after so long, else what became of it. */
gyre_status cuda_launcher_await(gyre_resident *resident, uint64_t patience_ns);
/** Ends the thread; its kernel has left. Accepts a resident without one. */
void cuda_launcher_destroy(gyre_resident *resident);

#endif
