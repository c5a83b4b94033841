/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a case as OpenCL C: builds the kernel's source on the first device, enqueues its batch entry over the
 * slots of a queue, compares completions, state, buffers, counts and the record of the compiler. The OpenCL
 * loader is opened at run time; exits 77 where there is no loader or no device. GYRE_TEST_OPENCL chooses a
 * platform by a part of its name.
 *
 * usage: run_opencl INCLUDE_DIR KERNEL.so FOLDER NAME
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "gyre/dialect/opencl_module.h"
#include "slots.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_HERE = 77, PLATFORMS_MAX = 16, LOG_LINES = 64, BUFFERS_START = 7, ITEMS_SIZE = 64 * 1024 };

#define CL_FUNCTIONS(F)                                                                                      \
    F(clGetPlatformIDs)                                                                                      \
    F(clGetPlatformInfo)                                                                                     \
    F(clGetDeviceIDs)                                                                                        \
    F(clGetDeviceInfo)                                                                                       \
    F(clCreateContext)                                                                                       \
    F(clCreateCommandQueue)                                                                                  \
    F(clCreateProgramWithSource)                                                                             \
    F(clBuildProgram)                                                                                        \
    F(clGetProgramBuildInfo)                                                                                 \
    F(clCreateKernel)                                                                                        \
    F(clSetKernelArg)                                                                                        \
    F(clCreateBuffer)                                                                                        \
    F(clEnqueueNDRangeKernel)                                                                                \
    F(clEnqueueReadBuffer)                                                                                   \
    F(clFinish)
#define CL_DECLARE(name) __typeof__(&name) name;
static struct {
    CL_FUNCTIONS(CL_DECLARE)
} cl;

struct device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
};

static void must(cl_int code, const char *what)
{
    if (code != CL_SUCCESS)
        case_die("%s failed with %d", what, code);
}

static void skip(const char *reason)
{
    fprintf(stderr, "skipped: %s\n", reason);
    exit(NOT_HERE);
}

static void open_loader(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        skip(dlerror());
#define CL_FIND(name)                                                                                        \
    {                                                                                                        \
        void *address = dlsym(library, #name);                                                               \
        if (!address)                                                                                        \
            skip("libOpenCL.so.1 has no " #name);                                                            \
        memcpy(&cl.name, &address, sizeof address);                                                          \
    }
    CL_FUNCTIONS(CL_FIND)
}

static int is_wanted(cl_platform_id platform)
{
    char name[256] = "";
    const char *wanted = getenv("GYRE_TEST_OPENCL");
    cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
    return !wanted || strstr(name, wanted);
}

static void open_device(struct device *device)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint count = 0;
    char name[256] = "";
    cl_int code = cl.clGetPlatformIDs(PLATFORMS_MAX, platforms, &count);
    for (cl_uint i = 0; code == CL_SUCCESS && i < count && !device->id; i++)
        if (is_wanted(platforms[i]) &&
            cl.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device->id, NULL) != CL_SUCCESS)
            device->id = NULL;
    if (!device->id)
        skip("no OpenCL device on this machine");
    device->context = cl.clCreateContext(NULL, 1, &device->id, NULL, NULL, &code);
    must(code, "clCreateContext");
    device->queue = cl.clCreateCommandQueue(device->context, device->id, 0, &code);
    must(code, "clCreateCommandQueue");
    cl.clGetDeviceInfo(device->id, CL_DEVICE_NAME, sizeof name, name, NULL);
    printf("device: %s\n", name);
}

static void build(struct device *device, const char *include, const char *folder, const char *name)
{
    static char log[64 * 1024];
    char source[256], options[8400];
    const char *text = source;
    cl_int code;
    snprintf(source, sizeof source, "#include \"%s.gyre.c\"\nGYRE_EXPORT_KERNELS_\n", name);
    snprintf(options, sizeof options, "-cl-std=CL1.2 -I%s -I%s", include, folder);
    device->program = cl.clCreateProgramWithSource(device->context, 1, &text, NULL, &code);
    must(code, "clCreateProgramWithSource");
    code = cl.clBuildProgram(device->program, 1, &device->id, options, NULL, NULL);
    cl.clGetProgramBuildInfo(device->program, device->id, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    if (code != CL_SUCCESS)
        case_die("clBuildProgram failed with %d:\n%s", code, log);
}

static cl_kernel find_kernel(const struct device *device, const char *prefix, const char *name)
{
    char full[160];
    cl_int code;
    snprintf(full, sizeof full, "%s%s", prefix, name);
    cl_kernel kernel = cl.clCreateKernel(device->program, full, &code);
    must(code, full);
    return kernel;
}

/* Device memory that starts with `bytes`. */
static cl_mem copy_in(const struct device *device, const void *bytes, size_t size)
{
    static char nothing[64];
    cl_int code;
    cl_mem memory = cl.clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                      size > 0 ? size : sizeof nothing,
                                      size > 0 ? (void *)(uintptr_t)bytes : nothing, &code);
    must(code, "clCreateBuffer");
    return memory;
}

static void copy_out(const struct device *device, cl_mem memory, void *bytes, size_t size)
{
    if (size > 0)
        must(cl.clEnqueueReadBuffer(device->queue, memory, CL_TRUE, 0, size, bytes, 0, NULL, NULL), "read");
}

static void run(const struct device *device, cl_kernel kernel, const cl_mem *memory, cl_uint count,
                size_t lanes, size_t blocks)
{
    const size_t global = lanes * blocks;
    for (cl_uint i = 0; i < count; i++)
        must(cl.clSetKernelArg(kernel, i, sizeof(cl_mem), &memory[i]), "clSetKernelArg");
    must(cl.clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &global, &lanes, 0, NULL, NULL),
         "enqueue");
    must(cl.clFinish(device->queue), "clFinish");
}

/* The record of the kernel among what gyre_describe tells of the file; all zero when it is not there. */
static gyre_device_kernel find_record(const unsigned char *items, const char *name)
{
    gyre_device_kernel record = {0};
    gyre_item item;
    char wanted[sizeof item.name];
    snprintf(wanted, sizeof wanted, "gyre_kernel_%s", name);
    for (size_t at = sizeof(gyre_item_list);; at += sizeof item + (item.size + 7) / 8 * 8) {
        memcpy(&item, items + at, sizeof item);
        if (item.name_size == 0 || at + sizeof item + sizeof record > ITEMS_SIZE)
            return record;
        if (item.size == sizeof record && strcmp(item.name, wanted) == 0)
            memcpy(&record, items + at + sizeof item, sizeof record);
    }
}

static int check_record(const struct device *device, const gyre_cpu_kernel *kernel)
{
    static unsigned char items[ITEMS_SIZE];
    const cl_ulong room = ITEMS_SIZE - sizeof(gyre_item);
    const size_t one = 1;
    cl_mem memory = copy_in(device, items, sizeof items);
    cl_kernel describe = find_kernel(device, "gyre_describe", "");
    must(cl.clSetKernelArg(describe, 0, sizeof memory, &memory), "clSetKernelArg");
    must(cl.clSetKernelArg(describe, 1, sizeof room, &room), "clSetKernelArg");
    must(cl.clEnqueueNDRangeKernel(device->queue, describe, 1, NULL, &one, &one, 0, NULL, NULL), "enqueue");
    copy_out(device, memory, items, sizeof items);
    gyre_device_kernel record = find_record(items, kernel->name);
    return slots_check_record(&record, kernel);
}

/* The launch: what the entry's parameters are made of, and read back from. */
struct launch {
    struct slots slots;
    gyre_device_binding bindings[GYRE_BINDINGS_MAX];
    struct {
        gyre_device_log head;
        gyre_device_log_line lines[LOG_LINES];
    } log;
    gyre_device_block blocks[64];
    cl_mem memory[BUFFERS_START + GYRE_BINDINGS_MAX];
};

static void prepare(const struct device *device, struct launch *launch, const struct kernel_case *test)
{
    slots_fill(&launch->slots, test);
    launch->log.head.capacity = LOG_LINES;
    for (uint32_t i = 0; i < test->buffer_count; i++)
        launch->bindings[i].count = test->buffers[i].count;
    launch->memory[0] = copy_in(device, &launch->slots.batch, sizeof launch->slots.batch);
    launch->memory[1] = copy_in(device, launch->slots.requests, launch->slots.requests_size);
    launch->memory[2] = copy_in(device, launch->slots.replies, launch->slots.replies_size);
    launch->memory[3] = copy_in(device, test->state.bytes, test->state.bytes ? test->state.layout->size : 0);
    launch->memory[4] = copy_in(device, launch->bindings, sizeof launch->bindings);
    launch->memory[5] = copy_in(device, &launch->log, sizeof launch->log);
    launch->memory[6] = copy_in(device, launch->blocks, sizeof launch->blocks);
    for (uint32_t i = 0; i < GYRE_BINDINGS_MAX; i++)
        launch->memory[BUFFERS_START + i] =
            i < test->buffer_count ? copy_in(device, test->buffers[i].bytes, test->buffers[i].layout->size)
                                   : launch->memory[4];
}

static int check(const struct device *device, struct launch *launch, struct kernel_case *test)
{
    copy_out(device, launch->memory[2], launch->slots.replies, launch->slots.replies_size);
    copy_out(device, launch->memory[3], test->state.bytes, test->state.bytes ? test->state.layout->size : 0);
    copy_out(device, launch->memory[5], &launch->log, sizeof launch->log);
    copy_out(device, launch->memory[6], launch->blocks, sizeof launch->blocks);
    for (uint32_t i = 0; i < test->buffer_count; i++)
        copy_out(device, launch->memory[BUFFERS_START + i], test->buffers[i].bytes,
                 test->buffers[i].layout->size);
    int good = slots_check(&launch->slots, test);
    good = slots_check_counts(launch->blocks, test->blocks, test) && good;
    good = slots_print_log(&launch->log.head) && good;
    return case_check_memory(test) && good;
}

int main(int count, char **arguments)
{
    static struct launch launch;
    struct device device = {0};
    if (count != 5)
        case_die("usage: run_opencl INCLUDE_DIR KERNEL.so FOLDER NAME");
    struct kernel_case *test = case_load(arguments[2], arguments[3], arguments[4]);
    setenv("POCL_WORK_GROUP_METHOD", "loops", 0); /* as the backend does (opencl_loader.c) */
    open_loader();
    open_device(&device);
    build(&device, arguments[1], arguments[3], test->name);
    prepare(&device, &launch, test);
    run(&device, find_kernel(&device, "gyre_batch_", test->kernel->name), launch.memory,
        BUFFERS_START + GYRE_BINDINGS_MAX, test->lanes, test->blocks);
    int good = check(&device, &launch, test);
    good = check_record(&device, test->kernel) && good;
    printf("%s: %zu requests, %s\n", test->name, test->count, good ? "all right" : "WRONG");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
