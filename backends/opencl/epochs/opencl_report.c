/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what a device reports besides replies: lines that handlers log, failures that a direct device counts,
 * and the times that the command queues measured. Takes no lock: the pump's thread calls it, or the last
 * thread that is left.
 */
#include "backends/opencl/opencl_check.h"
#include "backends/opencl/epochs/opencl_report.h"
#include "backends/opencl/epochs/opencl_resident.h"
#include "backends/opencl/opencl_wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/waiting.h"

/*
 * The pause between two looks at the log of a device that keeps it in its own memory, because a look is a
 * transfer.
 */
#define LOG_PAUSE_NS UINT64_C(20000000)

gyre_status opencl_log_create(gyre_resident *resident)
{
    const gyre_device *device = resident->device;
    void *memory = NULL;
    cl_int code;
    if (posix_memalign(&memory, 4096, sizeof *resident->log) != 0)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a kernel's log");
    resident->log = memory;
    memset(resident->log, 0, sizeof *resident->log);
    resident->log->head.capacity = OPENCL_LOG_LINES;
    resident->log_memory = device->cl->clCreateBuffer(
        device->context, CL_MEM_READ_WRITE | (device->direct ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR),
        sizeof *resident->log, resident->log, &code);
    return opencl_check(device, code, "clCreateBuffer");
}

/* Reads the first `size` bytes of the device's log. */
static bool read_log(const gyre_resident *resident, size_t size)
{
    const gyre_device *device = resident->device;
    cl_event event = NULL;
    cl_int code = device->cl->clEnqueueReadBuffer(resident->compute, resident->log_memory, CL_FALSE, 0, size,
                                                  resident->log, 0, NULL, &event);
    return opencl_finish(device, resident->compute, code, &event) == CL_SUCCESS;
}

/*
 * Copies the head of the device's log, and its lines only when there are new lines. False when a copy fails.
 */
static bool fetch_log(gyre_resident *resident, bool now)
{
    const gyre_device *device = resident->device;
    const uint64_t time_ns = gyre_clock_ns();
    if (device->direct)
        return true;
    if (!resident->log_stale || (!now && time_ns - resident->log_read_ns < LOG_PAUSE_NS))
        return false;
    resident->log_read_ns = time_ns;
    resident->log_stale = false;
    return read_log(resident, sizeof resident->log->head) &&
           (resident->log->head.next == resident->log_next || read_log(resident, sizeof *resident->log));
}

bool opencl_log_read_head(gyre_resident *resident)
{
    return resident->device->direct || read_log(resident, sizeof resident->log->head);
}

void opencl_log_drain(gyre_resident *resident, bool now)
{
    const gyre_host *host = resident->device->host;
    if (!fetch_log(resident, now))
        return;
    const uint32_t newest = __atomic_load_n(&resident->log->head.next, __ATOMIC_ACQUIRE);
    if (newest - resident->log_next > OPENCL_LOG_LINES) {
        host->log(host->context, GYRE_LOG_WARNING, "kernels log faster than lines are read; some are lost");
        resident->log_next = newest - OPENCL_LOG_LINES;
    }
    for (; resident->log_next != newest; resident->log_next++) {
        gyre_device_log_line *line = &resident->log->lines[resident->log_next % OPENCL_LOG_LINES];
        if (__atomic_load_n(&line->written, __ATOMIC_ACQUIRE) != resident->log_next + 1)
            return; /* the device is writing this line: the next look finds it */
        line->text[sizeof line->text - 1] = '\0';
        if (resident->kernel_log)
            resident->kernel_log(resident->kernel_log_context, line->text, line->value);
    }
}

uint32_t opencl_failed_since(gyre_resident *resident)
{
    const uint32_t now =
        __atomic_load_n(&resident->log->head.reserved[GYRE_EPOCH_FAILED_WORD], __ATOMIC_RELAXED);
    const uint32_t failed = now - resident->failed_seen;
    resident->failed_seen = now;
    return failed;
}

/* ---- what command queues measured ---- */

static uint64_t event_duration(const struct opencl_loader *cl, cl_event event)
{
    cl_ulong start = 0, end = 0;
    if (!event ||
        cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) !=
            CL_SUCCESS ||
        cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS)
        return 0;
    return end - start;
}

void opencl_profile_add(gyre_resident *resident, const struct opencl_epoch *epoch)
{
    const gyre_device *device = resident->device;
    struct opencl_profile *sum = &resident->profile;
    if (!device->settings.profile)
        return;
    sum->epochs++;
    sum->messages += epoch->count;
    sum->write_ns += event_duration(device->cl, epoch->written);
    sum->run_ns += event_duration(device->cl, device->direct ? epoch->done : epoch->ran);
    sum->read_ns += device->direct ? 0 : event_duration(device->cl, epoch->done);
}

void opencl_profile_tell(const gyre_resident *resident)
{
    const gyre_host *host = resident->device->host;
    const struct opencl_profile *sum = &resident->profile;
    const double epochs = (double)sum->epochs;
    char text[320];
    if (!sum->epochs)
        return;
    snprintf(
        text, sizeof text,
        "kernel '%s': %llu epochs of %.1f messages on average; the device took %.2f us to write, %.2f us to "
        "run and %.2f us to read each",
        resident->kernel->record.name, (unsigned long long)sum->epochs, (double)sum->messages / epochs,
        (double)sum->write_ns / epochs / 1e3, (double)sum->run_ns / epochs / 1e3,
        (double)sum->read_ns / epochs / 1e3);
    host->log(host->context, GYRE_LOG_INFO, text);
}
