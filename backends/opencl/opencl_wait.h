/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for commands in the OpenCL backend: its other files block in no call of OpenCL. */
#ifndef GYRE_OPENCL_WAIT_H
#define GYRE_OPENCL_WAIT_H

#include "backends/opencl/opencl_backend.h"

/** The state of one wait; zeroed at its start. */
struct opencl_patience {
    uint64_t start_ns, nudged_ns;
};

/**
 * Gives up the processor between two looks at a command. Returns true now and then, some milliseconds apart.
 */
bool opencl_pause(const gyre_device *device, struct opencl_patience *patience);
/**
 * Wakes the platform's threads, in case they sleep although there is work. Does nothing unless the device is
 * a processor.
 */
void opencl_nudge(const gyre_device *device);

/** Whether the command has ended, well or not. The command was flushed before. */
bool opencl_is_over(const gyre_device *device, cl_event event);
/** Waits for a command that was flushed. Returns the status that it ended with. */
cl_int opencl_await(const gyre_device *device, cl_event event);
/**
 * Finishes an enqueued command: `enqueued` is what the enqueuing call returned and, if that is CL_SUCCESS,
 * the event is what it stored. Flushes, waits, and releases the event. Returns the status that the command
 * ended with.
 */
cl_int opencl_finish(const gyre_device *device, cl_command_queue queue, cl_int enqueued,
                     const cl_event *event);

#endif
