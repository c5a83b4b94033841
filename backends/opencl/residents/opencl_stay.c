/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs kernels that stay (mode = resident): one launch polls the queues until the control word ends it. A
 * device promises to run only as many work-groups at once as it has compute units, and transfers need one
 * unit, too. So the blocks of all kernels that stay are added up, and a launch that needs more is refused.
 *
 * Takes no lock: the sum is atomic. The watcher's thread only reads the log.
 */
#include "backends/opencl/opencl_check.h"
#include "backends/opencl/epochs/opencl_report.h"
#include "backends/opencl/epochs/opencl_resident.h"
#include "backends/opencl/epochs/opencl_shape.h"
#include "backends/opencl/residents/opencl_stay.h"
#include "backends/opencl/opencl_wait.h"

#include <time.h>

#include "gyre/waiting.h"

enum { WATCH_NS = 10000000, WAIT_POLL_NS = 20000 };

static atomic_uint blocks_taken; /* blocks that all kernels of this process take */

static gyre_status take_blocks(gyre_resident *resident)
{
    const gyre_device *device = resident->device;
    const uint32_t most = device->unit_count > 1 ? device->unit_count - 1 : 0;
    const uint32_t before = atomic_fetch_add(&blocks_taken, resident->blocks);
    resident->stay_blocks = resident->blocks;
    if (before + resident->blocks <= most)
        return GYRE_OK;
    return device->host->error(
        GYRE_INVALID,
        "kernel '%s': with mode = resident its %u blocks do not fit: device '%s' has %u compute units, one "
        "is left for transfers, and %u are taken; launch fewer blocks, or set backend.opencl.mode = epochs",
        resident->kernel->record.name, resident->blocks, device->name, device->unit_count, before);
}

static gyre_status make_cursors(gyre_resident *resident)
{
    const gyre_device *device = resident->device;
    const gyre_kernel_record *record = &resident->kernel->record;
    const size_t stage = GYRE_STAY_STAGE(record->request->size, record->reply->size);
    const size_t size = resident->blocks * (GYRE_QUEUES_MAX * sizeof(gyre_stay_cursor) + stage);
    const cl_uchar zero = 0;
    cl_event event = NULL;
    cl_int code;
    resident->cursors = device->cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE, size, NULL, &code);
    if (code == CL_SUCCESS)
        code = device->cl->clEnqueueFillBuffer(resident->compute, resident->cursors, &zero, 1, 0, size, 0,
                                               NULL, &event);
    if (code == CL_SUCCESS)
        code = opencl_finish(device, resident->compute, code, &event);
    return opencl_check(device, code, "clEnqueueFillBuffer");
}

static gyre_status enqueue_stay(const gyre_resident *resident)
{
    const gyre_device *device = resident->device;
    const struct opencl_loader *cl = device->cl;
    const size_t global = resident->blocks, local = 1;
    gyre_epoch told;
    opencl_describe(resident, &told);
    cl_int code = cl->clSetKernelArg(resident->entry, 0, sizeof told, &told);
    for (cl_uint i = 1; i <= 2 && code == CL_SUCCESS; i++)
        code = cl->clSetKernelArg(resident->entry, i, sizeof resident->cursors, &resident->cursors);
    if (code == CL_SUCCESS)
        code = cl->clEnqueueNDRangeKernel(resident->compute, resident->entry, 1, NULL, &global, &local, 0,
                                          NULL, NULL);
    if (code == CL_SUCCESS)
        code = cl->clFlush(resident->compute);
    return opencl_check(device, code, "clEnqueueNDRangeKernel");
}

gyre_status opencl_stay_check(const gyre_resident *resident)
{
    if (resident->kernel->record.form == GYRE_FORM_KEYED && resident->blocks > 1)
        return resident->device->host->error(
            GYRE_INVALID,
            "kernel '%s' is a keyed actor with %u blocks, each of which would serve other queues: with mode = resident its "
            "keys have one block; set blocks = 1 for it, or backend.opencl.mode = epochs",
            resident->kernel->record.name, resident->blocks);
    if (!resident->lanes_meet)
        return GYRE_OK;
    return resident->device->host->error(
        GYRE_INVALID,
        "kernel '%s' is a block kernel, whose %u lanes would wait for messages at barriers: with mode = resident this "
        "backend runs lane kernels, actors and blocks of one lane; set lanes = 1 for it, or backend.opencl.mode = epochs",
        resident->kernel->record.name, resident->lanes);
}

gyre_status opencl_stay_start(gyre_resident *resident)
{
    gyre_status status = take_blocks(resident);
    if (status == GYRE_OK)
        status = make_cursors(resident);
    return status == GYRE_OK ? enqueue_stay(resident) : status;
}

/* Whether all blocks have left. Pairs with the release by which a block leaves. */
static bool has_left(const gyre_resident *resident)
{
    return __atomic_load_n(&resident->log->head.reserved[GYRE_STAY_LEFT_WORD], __ATOMIC_ACQUIRE) ==
           resident->blocks;
}

void *opencl_stay_watch(void *argument)
{
    gyre_resident *resident = argument;
    while (!__atomic_load_n(&resident->stay_over, __ATOMIC_ACQUIRE)) {
        opencl_log_drain(resident, false);
        opencl_nudge(resident->device); /* the kernel may not have been started yet */
        nanosleep(&(struct timespec){0, WATCH_NS}, NULL);
    }
    opencl_log_drain(resident, true);
    return NULL;
}

gyre_status opencl_stay_wait(gyre_resident *resident, uint64_t deadline_ns)
{
    while (!has_left(resident)) {
        if (gyre_clock_ns() >= deadline_ns)
            return resident->device->host->error(GYRE_TIMEOUT, "a handler is still running on device '%s'",
                                                 resident->device->name);
        nanosleep(&(struct timespec){0, WAIT_POLL_NS}, NULL);
    }
    return GYRE_OK;
}

void opencl_stay_end(gyre_resident *resident)
{
    const struct opencl_loader *cl = resident->device->cl;
    __atomic_store_n(&resident->stay_over, 1, __ATOMIC_RELEASE); /* pairs with the watcher's acquire */
    if (resident->cursors && resident->compute)
        cl->clFinish(resident->compute);
    if (resident->cursors)
        cl->clReleaseMemObject(resident->cursors);
    resident->cursors = NULL;
    atomic_fetch_sub(&blocks_taken, resident->stay_blocks);
    resident->stay_blocks = 0;
}
