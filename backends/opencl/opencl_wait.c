/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for commands. PoCL's threads now and then sleep through the signal that a command was enqueued, and
 * only another signal wakes them (seen with 3.1 on glibc 2.36, whose condition variables may lose a signal).
 * So no thread of this backend sleeps inside a platform that runs on processors. It looks at the command
 * instead, and now and then enqueues a marker in a separate command queue, which is such a signal. Takes no
 * lock. Any thread may call it.
 */
#include "backends/opencl/opencl_wait.h"

#include <sched.h>
#include <time.h>

#include "gyre/waiting.h"

enum {
    PATIENCE_NS = 1000000, /* how long looks follow each other quickly, before they become rare */
    LONG_POLL_NS = 100000,
    NUDGE_NS = 20000000
};

void opencl_nudge(const gyre_device *device)
{
    const struct opencl_loader *cl = device->cl;
    if (device->nudges && cl->clEnqueueMarkerWithWaitList(device->nudges, 0, NULL, NULL) == CL_SUCCESS)
        cl->clFlush(device->nudges);
}

bool opencl_pause(const gyre_device *device, struct opencl_patience *patience)
{
    const uint64_t now = gyre_clock_ns();
    if (!patience->start_ns)
        patience->start_ns = patience->nudged_ns = now;
    if (now - patience->start_ns < PATIENCE_NS)
        sched_yield();
    else
        nanosleep(&(struct timespec){0, LONG_POLL_NS}, NULL);
    if (now - patience->nudged_ns < NUDGE_NS)
        return false;
    opencl_nudge(device);
    patience->nudged_ns = now;
    return true;
}

bool opencl_is_over(const gyre_device *device, cl_event event)
{
    cl_int state = CL_QUEUED;
    const cl_int code =
        device->cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return code != CL_SUCCESS || state <= CL_COMPLETE;
}

cl_int opencl_await(const gyre_device *device, cl_event event)
{
    const struct opencl_loader *cl = device->cl;
    struct opencl_patience patience = {0};
    cl_int ended = CL_COMPLETE;
    while (device->nudges && !opencl_is_over(device, event))
        opencl_pause(device, &patience);
    cl_int code = cl->clWaitForEvents(1, &event);
    if (cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof ended, &ended, NULL) ==
            CL_SUCCESS &&
        ended < 0)
        code = ended;
    return code;
}

cl_int opencl_finish(const gyre_device *device, cl_command_queue queue, cl_int enqueued,
                     const cl_event *event)
{
    if (enqueued != CL_SUCCESS)
        return enqueued;
    cl_int code = device->cl->clFlush(queue);
    if (code == CL_SUCCESS)
        code = opencl_await(device, *event);
    device->cl->clReleaseEvent(*event);
    return code;
}
