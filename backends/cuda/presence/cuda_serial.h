/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver call that launches a kernel, made so that a launch which returns only once its kernel has left
 * blocks nobody: such a launch is made by a thread of the kernel's own.
 */
#ifndef GYRE_CUDA_SERIAL_H
#define GYRE_CUDA_SERIAL_H

#include "backends/cuda/cuda_resident.h"

/** Whether the environment says that launches wait for their kernels. If so, a sentence goes to the log. */
bool cuda_serial_expected(const gyre_host *host);
/**
 * Launches the kernel in the calling thread or, where a launch waits for its kernel, in a thread of the
 * resident's own (cuda_launcher_await waits for that thread). The first launch finds out which way is needed.
 * The caller holds residents->lock, and the context is current.
 */
gyre_status cuda_serial_start(gyre_resident *resident);
/**
 * Waits until the launch in the thread has returned, for `patience_ns` at most. AGAIN when it has not,
 * otherwise its result.
 */
gyre_status cuda_launcher_await(gyre_resident *resident, uint64_t patience_ns);
/** Ends the thread, after its kernel has left. Accepts a resident without a thread. */
void cuda_launcher_destroy(gyre_resident *resident);

#endif
