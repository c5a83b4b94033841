/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns results of OpenCL's calls into statuses with sentences, and keeps the first failure that lost a
 * device.
 */
#ifndef GYRE_OPENCL_CHECK_H
#define GYRE_OPENCL_CHECK_H

#include "backends/opencl/opencl_backend.h"

/**
 * Returns GYRE_OK for CL_SUCCESS. Otherwise it sets an error sentence with call, code and name, and returns
 *   EXHAUSTED    memory or another resource is short: the call may work later
 *   INVALID      the values passed cannot work on this device
 *   UNAVAILABLE  the device, its compiler or what the call asked for is not there
 *   INTERNAL     the call was wrong: a defect of this backend
 */
gyre_status opencl_check(const gyre_device *device, cl_int code, const char *call);
/** Does what opencl_check does, before there is a device. */
gyre_status opencl_check_host(const gyre_host *host, cl_int code, const char *call);
/**
 * Called after a command that ran on the device ended with `code`. Marks the device as lost and returns LOST.
 * The first cause is kept.
 */
gyre_status opencl_lose(gyre_device *device, cl_int code, const char *what);
/** Returns GYRE_OK, or LOST with the first cause when the device is lost. Cheap. Any thread may call it. */
gyre_status opencl_lost(gyre_device *device);

#endif
