/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes a device of the OpenCL backend: for opencl_device.c, which opens devices, and opencl_plugin.c,
 * which probes them.
 */
#ifndef GYRE_OPENCL_DEVICE_H
#define GYRE_OPENCL_DEVICE_H

#include "backends/opencl/platforms/opencl_platforms.h"

gyre_status opencl_device_open(const gyre_device_desc *desc, gyre_device **out);
void opencl_device_close(gyre_device *device);
gyre_status opencl_device_info(gyre_device *device, gyre_device_info *info);

/**
 * Fills in what the platform says about the device at `place`. Makes no context. UNAVAILABLE when the device
 * cannot run kernels of Gyre.
 */
gyre_status opencl_device_describe(gyre_device *device, const struct opencl_place *place);

#endif
