/* SPDX-License-Identifier: Apache-2.0 */
/* Results of calls as statuses with sentences, and the first failure that lost a device. */
#ifndef GYRE_OPENCL_CHECK_H
#define GYRE_OPENCL_CHECK_H

#include "opencl_backend.h"

/**
 * GYRE_OK for CL_SUCCESS. Else a sentence with call, code and name, and
 *   EXHAUSTED    memory or another resource lacks: later it may work
 *   INVALID      the values passed cannot work on this device
 *   UNAVAILABLE  the device, its compiler or what was asked for is not there
 *   INTERNAL     the call was wrong: a defect of this backend
 */
gyre_status opencl_check(const gyre_device *device, cl_int code, const char *call);
/** As opencl_check, before there is a device. */
gyre_status opencl_check_host(const gyre_host *host, cl_int code, const char *call);
/** After a command that ran on the device ended with `code`: LOST. The first cause is kept. */
gyre_status opencl_lose(gyre_device *device, cl_int code, const char *what);
/** GYRE_OK, or LOST with the first cause. Cheap. Threads: any. */
gyre_status opencl_lost(gyre_device *device);

#endif
