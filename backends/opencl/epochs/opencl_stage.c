/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes stages: memory in which the pump leaves requests for the device and finds its replies. If the driver
 * has it (cl_nv_create_buffer), a stage is host memory that kernels reach while the host works in it, too.
 * Otherwise it is memory on either side, and opencl_gather.c copies. A direct device has stages for other
 * programs' messages. Takes no lock: the opening of a device calls it, then the pump's thread alone.
 */
#include "backends/opencl/epochs/opencl_stage.h"
#include "backends/opencl/opencl_wait.h"

#include <stdlib.h>
#include <string.h>

#define LOCATION_HOST ((cl_bitfield)1 << 0) /* CL_MEM_LOCATION_HOST_NV */

enum { LINE = 64, PAGE = 4096, SMALLEST = 65536, TRIED = 4096 };

static cl_int map_stage(const gyre_device *device, cl_command_queue queue, struct opencl_stage *stage)
{
    cl_event mapped = NULL;
    cl_int code = CL_SUCCESS;
    stage->host = device->cl->clEnqueueMapBuffer(queue, stage->memory, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE,
                                                 0, stage->size, 0, NULL, &mapped, &code);
    code = opencl_finish(device, queue, code, &mapped);
    if (code != CL_SUCCESS)
        stage->host = NULL;
    return code;
}

static cl_int make_reachable(const gyre_device *device, cl_command_queue queue, struct opencl_stage *stage)
{
    cl_int code = CL_SUCCESS;
    stage->memory =
        device->create_reachable(device->context, CL_MEM_READ_WRITE, LOCATION_HOST, stage->size, NULL, &code);
    if (code == CL_SUCCESS)
        code = map_stage(device, queue, stage);
    if (code == CL_SUCCESS)
        memset(stage->host, 0, stage->size);
    return code;
}

/* Makes the memory of a stage on host and device; a direct device works in the host's own memory. */
static cl_int make_pair(const gyre_device *device, struct opencl_stage *stage)
{
    cl_int code = CL_SUCCESS;
    void *host = NULL;
    if (posix_memalign(&host, PAGE, stage->size) != 0)
        return CL_OUT_OF_HOST_MEMORY;
    memset(host, 0, stage->size);
    stage->host = host;
    stage->memory = device->cl->clCreateBuffer(device->context,
                                               CL_MEM_READ_WRITE | (device->direct ? CL_MEM_USE_HOST_PTR : 0),
                                               stage->size, device->direct ? host : NULL, &code);
    return code;
}

size_t opencl_stage_room(size_t wanted)
{
    size_t size = SMALLEST;
    while (size < wanted)
        size *= 2;
    return size;
}

cl_int opencl_stage_grow(const gyre_device *device, cl_command_queue queue, struct opencl_stage *stage,
                         size_t wanted)
{
    if (stage->size >= wanted)
        return CL_SUCCESS;
    opencl_stage_release(device, queue, stage);
    stage->size = opencl_stage_room(wanted);
    cl_int code = device->create_reachable ? make_reachable(device, queue, stage) : make_pair(device, stage);
    if (code != CL_SUCCESS)
        opencl_stage_release(device, queue, stage);
    return code;
}

void opencl_stage_release(const gyre_device *device, cl_command_queue queue, struct opencl_stage *stage)
{
    const struct opencl_loader *cl = device->cl;
    cl_event unmapped = NULL;
    if (!device->create_reachable)
        free(stage->host);
    else if (stage->host)
        opencl_finish(device, queue,
                      cl->clEnqueueUnmapMemObject(queue, stage->memory, stage->host, 0, NULL, &unmapped),
                      &unmapped);
    if (stage->memory)
        cl->clReleaseMemObject(stage->memory);
    memset(stage, 0, sizeof *stage);
}

/* Whether a write of the device shows while the memory is mapped. */
static bool shows_memory(const gyre_device *device)
{
    const uint64_t written = UINT64_C(0x1122334455667788);
    struct opencl_stage stage = {.size = TRIED};
    cl_event event = NULL;
    bool seen = false;
    if (make_reachable(device, device->service, &stage) == CL_SUCCESS) {
        cl_int code = device->cl->clEnqueueWriteBuffer(device->service, stage.memory, CL_FALSE, LINE,
                                                       sizeof written, &written, 0, NULL, &event);
        code = opencl_finish(device, device->service, code, &event);
        seen = code == CL_SUCCESS && memcmp(stage.host + LINE, &written, sizeof written) == 0;
    }
    opencl_stage_release(device, device->service, &stage);
    return seen;
}

void opencl_stage_find(gyre_device *device)
{
    char extensions[8192] = "";
    const struct opencl_loader *cl = device->cl;
    if (!cl->clGetExtensionFunctionAddressForPlatform ||
        cl->clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL) !=
            CL_SUCCESS ||
        !strstr(extensions, "cl_nv_create_buffer"))
        return;
    void *function = cl->clGetExtensionFunctionAddressForPlatform(device->platform, "clCreateBufferNV");
    memcpy(&device->create_reachable, &function, sizeof function);
    if (device->create_reachable && !shows_memory(device))
        device->create_reachable = NULL;
}
