/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of the CUDA backend: shared by cuda_device.c and cuda_plugin.c, which probes them. */
#ifndef GYRE_CUDA_DEVICE_H
#define GYRE_CUDA_DEVICE_H

#include "cuda_backend.h"

gyre_status cuda_device_open(const gyre_device_desc *desc, gyre_device **out);
void cuda_device_close(gyre_device *device);
gyre_status cuda_device_info(gyre_device *device, gyre_device_info *info);

/** How many devices there are with the setting `device`, of the driver's `count`. */
uint32_t cuda_devices_count(const struct cuda_settings *settings, int count);

/**
 * Fills in what the driver says about device->ordinal, without a context. INVALID or UNAVAILABLE when there
 * is no such device or it cannot run resident kernels.
 */
gyre_status cuda_device_describe(gyre_device *device);

#endif
