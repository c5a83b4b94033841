/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operation `compile`: puts the unit and its headers into one text, builds it by clBuildProgram, then runs
 * the kernel that describes what the file declares. Takes no lock: any thread may compile, because each call
 * has its own program and command queue. An unfinished file never appears under the name of a result.
 */
#include "backends/opencl/compile/opencl_artifact.h"
#include "backends/opencl/opencl_check.h"
#include "backends/opencl/compile/opencl_compile.h"
#include "backends/opencl/platforms/opencl_pocl.h"
#include "backends/opencl/compile/opencl_source.h"
#include "backends/opencl/opencl_wait.h"

#include "gyre/lack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_ROOM = 64 * 1024, ITEMS_ROOM_MAX = 16 << 20 };

/* One compile. It owns its members, except those that it borrows from the caller. */
struct job {
    gyre_device *device;
    const gyre_compile_desc *desc;
    char *source;
    cl_program program;
    cl_command_queue queue;
    unsigned char *items, *binary;
    size_t items_size, binary_size;
    int lock; /* see opencl_pocl_begin_build */
};

/* ---- building ---- */

static char *read_log(gyre_device *device, cl_program program)
{
    const struct opencl_loader *cl = device->cl;
    size_t size = 0;
    if (cl->clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS)
        return NULL;
    char *log = calloc(1, size + 1);
    if (log && size > 0 &&
        cl->clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS)
        log[0] = '\0';
    return log;
}

static gyre_status refuse_options(const gyre_device *device, const char *users)
{
    users += strspn(users, " ");
    size_t length = strlen(users);
    while (length > 0 && users[length - 1] == ' ')
        length--;
    return device->host->error(
        GYRE_INVALID,
        "the compiler of device '%s' refuses its options: one of '%.*s', which come from "
        "backend.opencl.options and the launch",
        device->name, (int)length, users);
}

cl_int opencl_build_program(const gyre_device *device, cl_program program, enum opencl_lanes lanes,
                            const char *options)
{
    const bool alone = device->solo && lanes == OPENCL_LANES_ALONE;
    char *all;
    if (asprintf(&all, "%s%s %s", device->options,
                 alone                  ? " -DGYRE_OPENCL_SOLO"
                 : device->plain_blocks ? " -cl-opt-disable"
                                        : "",
                 options) < 0)
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int code = device->cl->clBuildProgram(program, 1, &device->id, all, NULL, NULL);
    free(all);
    return code;
}

/*
 * Builds the program. `sentence` receives the compiler's words about an error; it is empty when the compiler
 * says nothing.
 */
static cl_int build_and_listen(gyre_device *device, const struct opencl_build_desc *desc, char *sentence,
                               size_t size)
{
    const cl_int code = opencl_build_program(device, desc->program, desc->lanes, desc->options);
    char *log = read_log(device, desc->program);
    if (log && desc->messages && desc->messages_size)
        snprintf(desc->messages, desc->messages_size, "%s", log);
    opencl_first_error(desc->source, log ? log : "", sentence, size);
    free(log);
    return code;
}

gyre_status opencl_build(gyre_device *device, const struct opencl_build_desc *desc)
{
    /* PoCL 5 may fail without a word while another process, which is not Gyre's, builds the same text */
    enum { SILENT_TRIES = 3 };
    char sentence[600];
    cl_int code;
    int tries = 0;
    do
        code = build_and_listen(device, desc, sentence, sizeof sentence);
    while (code == CL_BUILD_PROGRAM_FAILURE && !sentence[0] && ++tries < SILENT_TRIES);
    const int lack = gyre_lack_in(sentence);
    if (code == CL_BUILD_PROGRAM_FAILURE && sentence[0])
        return device->host->error(gyre_lack_status(lack, GYRE_FAILED), "%s%s", sentence,
                                   gyre_lack_remedy(lack));
    if (code == CL_BUILD_PROGRAM_FAILURE)
        return device->host->error(GYRE_FAILED,
                                   "the compiler of device '%s' failed %d times and said nothing",
                                   device->name, SILENT_TRIES);
    if (code == CL_INVALID_BUILD_OPTIONS)
        return refuse_options(device, desc->options);
    return opencl_check(device, code, "clBuildProgram");
}

static const char *users_options(const gyre_compile_desc *desc)
{
    return desc->options ? desc->options : "";
}

static gyre_status build_source(struct job *job)
{
    gyre_device *device = job->device;
    const gyre_compile_desc *desc = job->desc;
    const char *text;
    cl_int code;
    text = job->source =
        opencl_source_flatten(desc->unit_path, desc->include_directories, desc->dependency_path);
    if (!job->source)
        return device->host->error(gyre_lack_status(errno, GYRE_FAILED),
                                   "the unit '%s' and its headers cannot be read: %s%s", desc->unit_path,
                                   strerror(errno), gyre_lack_remedy(errno));
    job->lock = opencl_pocl_begin_build(device, text);
    job->program = device->cl->clCreateProgramWithSource(device->context, 1, &text, NULL, &code);
    gyre_status status = opencl_check(device, code, "clCreateProgramWithSource");
    if (status != GYRE_OK)
        return status;
    return opencl_build(device, &(struct opencl_build_desc){.program = job->program,
                                                            .source = job->source,
                                                            .options = users_options(desc),
                                                            .messages = desc->messages,
                                                            .messages_size = desc->messages_size});
}

/* ---- what the file declares ---- */

/* Runs gyre_describe with `room` bytes for its items, and reads the items. */
static gyre_status run_describe(struct job *job, cl_kernel kernel, cl_ulong room)
{
    gyre_device *device = job->device;
    const struct opencl_loader *cl = device->cl;
    const size_t one = 1;
    cl_event read = NULL;
    cl_int code;
    cl_mem memory = cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE, room, NULL, &code);
    gyre_status status = opencl_check(device, code, "clCreateBuffer");
    if (status != GYRE_OK)
        return status;
    code = cl->clSetKernelArg(kernel, 0, sizeof memory, &memory);
    if (code == CL_SUCCESS)
        code = cl->clSetKernelArg(kernel, 1, sizeof room, &room);
    status = opencl_check(device, code, "clSetKernelArg");
    if (status == GYRE_OK)
        status = opencl_check(
            device, cl->clEnqueueNDRangeKernel(job->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL),
            "clEnqueueNDRangeKernel");
    if (status == GYRE_OK) {
        code = cl->clEnqueueReadBuffer(job->queue, memory, CL_FALSE, 0, room, job->items, 0, NULL, &read);
        status = opencl_check(device, opencl_finish(device, job->queue, code, &read), "clEnqueueReadBuffer");
    }
    cl->clReleaseMemObject(memory);
    return status;
}

/* Describes the file. Runs gyre_describe again with more room when its items need it. */
static gyre_status describe_with(struct job *job, cl_kernel kernel)
{
    const gyre_host *host = job->device->host;
    gyre_item_list list = {.size = ITEMS_ROOM};
    do {
        uint64_t room = list.size;
        unsigned char *grown = realloc(job->items, room);
        if (!grown)
            return host->error(GYRE_EXHAUSTED, "no memory for %llu bytes of descriptions",
                               (unsigned long long)room);
        job->items = grown;
        gyre_status status = run_describe(job, kernel, room);
        if (status != GYRE_OK)
            return status;
        memcpy(&list, job->items, sizeof list);
        job->items_size = list.size;
        if (list.count > GYRE_ITEMS_MAX)
            return host->error(
                GYRE_INVALID,
                "the kernel file and its headers declare %u messages, buffers and kernels in all; "
                "on OpenCL %d are the most: split the file",
                list.count / 2, GYRE_ITEMS_MAX / 2);
        if (list.size <= room)
            return GYRE_OK;
    } while (list.size <= ITEMS_ROOM_MAX);
    return host->error(GYRE_INTERNAL, "device '%s' describes its kernels in %llu bytes, which is too much",
                       job->device->name, (unsigned long long)list.size);
}

static gyre_status describe_kernels(struct job *job)
{
    gyre_device *device = job->device;
    cl_int code;
    cl_kernel kernel = device->cl->clCreateKernel(job->program, "gyre_describe", &code);
    gyre_status status = opencl_check(device, code, "clCreateKernel");
    if (status != GYRE_OK)
        return status;
    job->queue = device->cl->clCreateCommandQueue(device->context, device->id, 0, &code);
    status = opencl_check(device, code, "clCreateCommandQueue");
    if (status == GYRE_OK)
        status = describe_with(job, kernel);
    device->cl->clReleaseKernel(kernel);
    return status;
}

/* Reads the binary into memory of its own. *size is 0 when the device has none. */
static gyre_status read_binary(const struct job *job, unsigned char **bytes, size_t *size)
{
    const gyre_device *device = job->device;
    const struct opencl_loader *cl = device->cl;
    *bytes = NULL;
    *size = 0;
    cl_int code = cl->clGetProgramInfo(job->program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL);
    if (code == CL_SUCCESS && *size > 0) {
        *bytes = calloc(1, *size);
        if (!*bytes)
            return device->host->error(GYRE_EXHAUSTED, "no memory for a compiled kernel of %zu bytes", *size);
        code = cl->clGetProgramInfo(job->program, CL_PROGRAM_BINARIES, sizeof *bytes, bytes, NULL);
    }
    return opencl_check(device, code, "clGetProgramInfo");
}

/*
 * PoCL packs what lies in a folder of its cache, where another process that builds the same text may be writing, and ends
 * a process that gives it a torn binary. So a binary counts when it was read twice and is the same; without one, the
 * text is built again when it is loaded.
 */
static gyre_status take_binary(struct job *job)
{
    enum { READS_MAX = 16 };
    bool is_whole = false;
    gyre_status status = read_binary(job, &job->binary, &job->binary_size);
    for (int reads = 1; status == GYRE_OK && !is_whole && reads < READS_MAX; reads++) {
        unsigned char *again;
        size_t size;
        status = read_binary(job, &again, &size);
        is_whole = size == job->binary_size && (size == 0 || !again || memcmp(again, job->binary, size) == 0);
        free(job->binary);
        job->binary = again;
        job->binary_size = again ? size : 0;
    }
    if (!is_whole)
        job->binary_size = 0;
    return status;
}

/* ---- the operation ---- */

static gyre_status publish_artifact(const struct job *job)
{
    struct opencl_artifact artifact;
    const char *options = users_options(job->desc);
    artifact.parts[OPENCL_PART_OPTIONS] = (struct opencl_part){options, strlen(options) + 1};
    artifact.parts[OPENCL_PART_SOURCE] = (struct opencl_part){job->source, strlen(job->source) + 1};
    artifact.parts[OPENCL_PART_ITEMS] = (struct opencl_part){job->items, job->items_size};
    artifact.parts[OPENCL_PART_BINARY] = (struct opencl_part){job->binary, job->binary_size};
    return opencl_artifact_write(job->device->host, job->desc->artifact_path, &artifact);
}

/*
 * Refuses a compile that took too long. clBuildProgram cannot be interrupted, so this shows only when it
 * ends.
 */
static gyre_status check_deadline(const struct job *job)
{
    if (job->device->host->now_ns() <= job->desc->deadline_ns)
        return GYRE_OK;
    return job->device->host->error(GYRE_TIMEOUT,
                                    "the compiler of device '%s' did not end in the time that "
                                    "compile_timeout_ms allows; its result is not used",
                                    job->device->name);
}

static gyre_status run_job(struct job *job)
{
    const gyre_compile_desc *desc = job->desc;
    if (desc->architecture && strcmp(desc->architecture, job->device->architecture) != 0)
        return job->device->host->error(GYRE_UNAVAILABLE,
                                        "OpenCL compiles for the device at hand ('%s'), not for '%s'",
                                        job->device->architecture, desc->architecture);
    gyre_status status = build_source(job);
    if (status == GYRE_OK)
        status = describe_kernels(job);
    if (status == GYRE_OK)
        status = take_binary(job);
    if (status == GYRE_OK)
        status = check_deadline(job);
    return status == GYRE_OK ? publish_artifact(job) : status;
}

gyre_status opencl_compile(gyre_device *device, const gyre_compile_desc *desc)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return device->host->error(GYRE_EXHAUSTED, "no memory to compile a kernel");
    job->lock = -1;
    job->device = device;
    job->desc = desc;
    gyre_status status = run_job(job);
    if (job->queue)
        device->cl->clReleaseCommandQueue(job->queue);
    if (job->program)
        device->cl->clReleaseProgram(job->program);
    opencl_pocl_end_build(job->lock);
    free(job->source);
    free(job->items);
    free(job->binary);
    free(job);
    return status;
}
