/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a GPU that all kernels of this process share (struct cuda_residents): made with its first opened device, freed
 * with the last.
 */
#ifndef GYRE_CUDA_RESIDENTS_H
#define GYRE_CUDA_RESIDENTS_H

#include "cuda_backend.h"

/** Called when a device of the driver is opened, its context current, and before it is closed. */
gyre_status cuda_residents_open(gyre_device *device);
void cuda_residents_close(gyre_device *device); /* accepts a device whose residents were never opened */

#endif
