/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for commands in the OpenCL backend: its other files block in no call of OpenCL. */
#ifndef GYRE_OPENCL_WAIT_H
#define GYRE_OPENCL_WAIT_H

#include "opencl_backend.h"

/** One wait; zeroed at its start. */
struct opencl_patience {
    uint64_t start_ns, nudged_ns;
};

/** Between two looks at a command: gives up the processor. True now and then, some milliseconds apart. */
bool opencl_pause(const gyre_device *device, struct opencl_patience *patience);
/** Wakes the platform's threads, in case they sleep although there is work. Does nothing unless the device is a processor. */
void opencl_nudge(const gyre_device *device);

/** Whether the command ended, well or not; it was flushed. */
bool opencl_is_over(const gyre_device *device, cl_event event);
/** Waits for a command that was flushed. Returns how it ended. */
cl_int opencl_await(const gyre_device *device, cl_event event);
/**
 * Takes what an enqueuing call returned and, if that is CL_SUCCESS, the event that it stored: flushes, waits,
 * and releases the event. Returns how the command ended.
 */
cl_int opencl_finish(const gyre_device *device, cl_command_queue queue, cl_int enqueued,
                     const cl_event *event);

#endif
