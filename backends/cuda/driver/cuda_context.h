/* SPDX-License-Identifier: Apache-2.0 */
/* The primary context of a device, which all runtimes and libraries of this process share. */
#ifndef GYRE_CUDA_CONTEXT_H
#define GYRE_CUDA_CONTEXT_H

#include "backends/cuda/cuda_backend.h"

/**
 * Retains the device's context and makes it current. After a failure device->context is NULL if no context is
 * held.
 */
gyre_status cuda_context_open(gyre_device *device);
/**
 * Makes the device's context current in the calling thread, as every call into the driver requires.
 * UNAVAILABLE on a device that only compiles.
 */
gyre_status cuda_enter(gyre_device *device);
/** Releases the device's context. */
void cuda_context_close(gyre_device *device);

#endif
