/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all kernels of a GPU share (struct cuda_residents in cuda_resident.h): made with the GPU's first
 * opened device, freed with the last. Kernels are launched elsewhere (cuda_launch.c, cuda_serial.c).
 */
#ifndef GYRE_CUDA_RESIDENTS_H
#define GYRE_CUDA_RESIDENTS_H

#include "backends/cuda/cuda_backend.h"

/** Called when a device of the driver is opened, with its context current, and before it is closed. */
gyre_status cuda_residents_open(gyre_device *device);
void cuda_residents_close(gyre_device *device); /* also accepts a device without residents */

#endif
