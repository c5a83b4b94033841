/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueues an epoch (a batch of requests), whatever way its messages go: sets the kernel's arguments and
 * launches it. For messages that are copied or gathered it also chooses the event that the kernel waits for
 * and the blocks that it runs in. Takes no lock: only the pump's thread calls it. Never waits, except while
 * it copies the table of handles.
 */
#include "backends/opencl/opencl_check.h"
#include "backends/opencl/epochs/opencl_commands.h"
#include "backends/opencl/epochs/opencl_epoch.h"
#include "backends/opencl/opencl_memory.h"
#include "backends/opencl/epochs/opencl_shape.h"
#include "backends/opencl/opencl_wait.h"

#include <string.h>

enum { ARGUMENT_EPOCH = 0, ARGUMENT_REQUESTS = 1, ARGUMENT_REPLIES = 2 };

gyre_status opencl_commanded(const gyre_resident *resident, cl_int code, const char *call)
{
    return code == CL_SUCCESS ? GYRE_OK : opencl_lose(resident->device, code, call);
}

gyre_status opencl_set_slots(gyre_resident *resident, cl_mem requests, cl_mem replies)
{
    const struct opencl_loader *cl = resident->device->cl;
    if (resident->bound_queue == requests)
        return GYRE_OK;
    cl_int code = cl->clSetKernelArg(resident->entry, ARGUMENT_REQUESTS, sizeof requests, &requests);
    if (code == CL_SUCCESS)
        code = cl->clSetKernelArg(resident->entry, ARGUMENT_REPLIES, sizeof replies, &replies);
    resident->bound_queue = code == CL_SUCCESS ? requests : NULL;
    return opencl_commanded(resident, code, "clSetKernelArg");
}

gyre_status opencl_enqueue(gyre_resident *resident, struct opencl_epoch *epoch, cl_event former,
                           cl_event *ran)
{
    const struct opencl_loader *cl = resident->device->cl;
    size_t global, local;
    gyre_epoch told;
    resident->due_stale = true;
    opencl_tell_epoch(resident, epoch, &told);
    opencl_shape(resident, epoch->promised, &told, &global, &local);
    epoch->groups = opencl_least(global / local, resident->blocks - epoch->first_block);
    cl_int code = cl->clSetKernelArg(resident->entry, ARGUMENT_EPOCH, sizeof told, &told);
    if (code != CL_SUCCESS)
        return opencl_commanded(resident, code, "clSetKernelArg");
    code = cl->clEnqueueNDRangeKernel(epoch->commands ? epoch->commands : resident->compute, resident->entry,
                                      1, NULL, &global, &local, former ? 1 : 0, former ? &former : NULL, ran);
    return opencl_commanded(resident, code, "clEnqueueNDRangeKernel");
}

/* ---- of messages that are copied or gathered ---- */

/*
 * Returns the kernel event of the last epoch in the same blocks, if that kernel may still run. A collected
 * epoch counts, too: its messages are done, but the end of its kernel may not have been told yet.
 */
cl_event opencl_former(const gyre_resident *resident)
{
    const uint32_t places = resident->device->settings.epochs;
    if (resident->in_flight < resident->ways)
        return NULL;
    const struct opencl_epoch *before =
        &resident->epochs[(resident->oldest + resident->in_flight - resident->ways) % places];
    return before->ran ? before->ran : before->done;
}

bool opencl_tells_run(const gyre_resident *resident)
{
    const struct opencl_settings *settings = &resident->device->settings;
    return settings->profile || resident->ways < settings->epochs;
}

void opencl_turn_blocks(gyre_resident *resident, struct opencl_epoch *epoch)
{
    epoch->first_block = resident->way * (resident->blocks / resident->ways);
    resident->way = (resident->way + 1) % resident->ways;
}

/*
 * Copies the table of handles when it has changed. The core puts a buffer into the table before a message can
 * name the buffer, and calls no backend for that, so a device that does not see the table gets a new copy
 * here.
 */
gyre_status opencl_copy_handles(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    const gyre_control_handle *table = GYRE_CONTROL_HANDLES(resident->control, resident->blocks);
    const size_t size = GYRE_HANDLES_MAX * sizeof *table;
    if (!resident->handles || memcmp(resident->handles, table, size) == 0)
        return GYRE_OK;
    memcpy(resident->handles, table, size);
    gyre_status status = opencl_name_buffers(device, resident->entry, resident->handles);
    if (status != GYRE_OK)
        return opencl_lose(device, CL_INVALID_VALUE, "clSetKernelExecInfo");
    cl_event event = NULL;
    cl_int code = device->cl->clEnqueueWriteBuffer(resident->compute, resident->control_memory, CL_FALSE, 0,
                                                   size, resident->handles, 0, NULL, &event);
    return opencl_commanded(resident, opencl_finish(device, resident->compute, code, &event),
                            "clEnqueueWriteBuffer");
}
