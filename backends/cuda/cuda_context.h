/* SPDX-License-Identifier: Apache-2.0 */
/* The context of a device, which all runtimes of this process share. */
#ifndef GYRE_CUDA_CONTEXT_H
#define GYRE_CUDA_CONTEXT_H

#include "cuda_backend.h"

/** Takes the device's context, and makes it current. After a failure device->context is NULL if there is none. */
gyre_status cuda_context_open(gyre_device *device);
/** Makes the device's context current in the calling thread: before any call into the driver. UNAVAILABLE
 * on a device that only compiles. */
gyre_status cuda_enter(gyre_device *device);
/** Gives it back. */
void cuda_context_close(gyre_device *device);

#endif
