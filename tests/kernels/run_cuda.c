/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a case on the first CUDA device: loads a cubin that nvrtc_check wrote and launches its batch entry
 * over the slots of a queue, in managed memory. The driver is opened at run time; exits 77 where there is
 * none.
 *
 * usage: run_cuda CUBIN KERNEL.so FOLDER NAME
 */
#include "slots.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOT_HERE = 77, NO_BINARY_FOR_GPU = 209, LOG_LINES = 64, ATTACH_GLOBAL = 1, DYNAMIC_SHARED_SIZE = 8 };

/* The part of the driver's interface that is used; types as in its header, which is not needed to build. */
static struct {
    int (*init)(unsigned flags);
    int (*device)(int *device, int ordinal);
    int (*retain)(void **context, int device);
    int (*set_current)(void *context);
    int (*load)(void **module, const char *path);
    int (*function)(void **function, void *module, const char *name);
    int (*global)(uint64_t *address, size_t *size, void *module, const char *name);
    int (*copy_from)(void *target, uint64_t address, size_t size);
    int (*allocate)(uint64_t *address, size_t size, unsigned flags);
    int (*attribute)(void *function, int attribute, int value);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                  unsigned block_y, unsigned block_z, unsigned shared_size, void *stream, void **parameters,
                  void **extra);
    int (*synchronize)(void);
} cu;

static const struct {
    const char *name;
    void *slot;
} symbols[] = {{"cuInit", &cu.init},
               {"cuDeviceGet", &cu.device},
               {"cuDevicePrimaryCtxRetain", &cu.retain},
               {"cuCtxSetCurrent", &cu.set_current},
               {"cuModuleLoad", &cu.load},
               {"cuModuleGetFunction", &cu.function},
               {"cuModuleGetGlobal_v2", &cu.global},
               {"cuMemcpyDtoH_v2", &cu.copy_from},
               {"cuMemAllocManaged", &cu.allocate},
               {"cuFuncSetAttribute", &cu.attribute},
               {"cuLaunchKernel", &cu.launch},
               {"cuCtxSynchronize", &cu.synchronize}};

static void must(int code, const char *what)
{
    if (code != 0)
        case_die("%s failed with %d", what, code);
}

static int open_driver(void)
{
    int device = 0;
    void *context = NULL, *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "skipped: %s\n", dlerror());
        return 0;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (!address)
            case_die("libcuda.so.1 has no %s", symbols[i].name);
        memcpy(symbols[i].slot, &address, sizeof address);
    }
    if (cu.init(0) != 0 || cu.device(&device, 0) != 0) {
        fprintf(stderr, "skipped: no CUDA device\n");
        return 0;
    }
    must(cu.retain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cu.set_current(context), "cuCtxSetCurrent");
    return 1;
}

/* Memory that both sides see, filled with `bytes`, or zeroed. */
static void *share(const void *bytes, size_t size)
{
    uint64_t address = 0;
    must(cu.allocate(&address, size > 0 ? size : 8, ATTACH_GLOBAL), "cuMemAllocManaged");
    void *memory = (void *)(uintptr_t)address;
    if (bytes && size > 0)
        memcpy(memory, bytes, size);
    else
        memset(memory, 0, size > 0 ? size : 8);
    return memory;
}

struct launch {
    struct slots slots;
    gyre_batch *batch;
    gyre_device_binding *bindings;
    gyre_device_log *log;
    gyre_device_block *blocks;
    void *state;
};

static void prepare(struct launch *launch, const struct kernel_case *test)
{
    slots_fill(&launch->slots, test);
    launch->batch = share(&launch->slots.batch, sizeof launch->slots.batch);
    launch->slots.requests = share(launch->slots.requests, launch->slots.requests_size);
    launch->slots.replies = share(launch->slots.replies, launch->slots.replies_size);
    launch->state = share(test->state.bytes, test->state.bytes ? test->state.layout->size : 0);
    launch->bindings = share(NULL, GYRE_BINDINGS_MAX * sizeof *launch->bindings);
    for (uint32_t i = 0; i < test->buffer_count; i++) {
        const struct case_memory *buffer = &test->buffers[i];
        launch->bindings[i].address = (uintptr_t)share(buffer->bytes, buffer->layout->size);
        launch->bindings[i].count = buffer->count;
    }
    launch->log = share(NULL, sizeof *launch->log + LOG_LINES * sizeof(gyre_device_log_line));
    launch->log->capacity = LOG_LINES;
    launch->blocks = share(NULL, test->blocks * sizeof *launch->blocks);
}

static void run(void *module, struct launch *launch, const struct kernel_case *test)
{
    char name[128];
    void *function = NULL;
    const unsigned scratch = (unsigned)test->kernel->scratch_size;
    void *parameters[] = {&launch->batch, &launch->slots.requests, &launch->slots.replies,
                          &launch->state, &launch->bindings,       &launch->log,
                          &launch->blocks};
    snprintf(name, sizeof name, "gyre_batch_%s", test->kernel->name);
    must(cu.function(&function, module, name), name);
    must(cu.attribute(function, DYNAMIC_SHARED_SIZE, (int)scratch), "cuFuncSetAttribute");
    must(cu.launch(function, test->blocks, 1, 1, test->lanes, 1, 1, scratch, NULL, parameters, NULL),
         "launch");
    must(cu.synchronize(), "cuCtxSynchronize");
}

static int check(struct launch *launch, struct kernel_case *test)
{
    if (test->state.bytes)
        memcpy(test->state.bytes, launch->state, test->state.layout->size);
    for (uint32_t i = 0; i < test->buffer_count; i++)
        memcpy(test->buffers[i].bytes, (const void *)(uintptr_t)launch->bindings[i].address,
               test->buffers[i].layout->size);
    int good = slots_check(&launch->slots, test);
    good = slots_check_counts(launch->blocks, test->blocks, test) && good;
    good = slots_print_log(launch->log) && good;
    return case_check_memory(test) && good;
}

static int check_record(void *module, const gyre_cpu_kernel *kernel)
{
    char name[128], text[256] = "";
    uint64_t address = 0;
    size_t size = 0;
    gyre_device_kernel record;
    snprintf(name, sizeof name, "gyre_kernel_%s", kernel->name);
    must(cu.global(&address, &size, module, name), name);
    if (size != sizeof record)
        case_die("%s has %zu bytes, not %zu", name, size, sizeof record);
    must(cu.copy_from(&record, address, size), "cuMemcpyDtoH");
    snprintf(name, sizeof name, "gyre_text_%s", kernel->request->name);
    must(cu.global(&address, &size, module, name), name);
    must(cu.copy_from(text, address, size < sizeof text ? size : sizeof text - 1), "cuMemcpyDtoH");
    if (strncmp(text, kernel->request->fields, sizeof text - 1) != 0)
        case_die("%s is '%s', not '%s'", name, text, kernel->request->fields);
    return slots_check_record(&record, kernel);
}

int main(int count, char **arguments)
{
    struct launch launch = {0};
    void *module = NULL;
    if (count != 5)
        case_die("usage: run_cuda CUBIN KERNEL.so FOLDER NAME");
    struct kernel_case *test = case_load(arguments[2], arguments[3], arguments[4]);
    if (!open_driver())
        return NOT_HERE;
    int code = access(arguments[1], R_OK) == 0 ? cu.load(&module, arguments[1]) : NO_BINARY_FOR_GPU;
    if (code == NO_BINARY_FOR_GPU) {
        fprintf(stderr, "skipped: no cubin for this device; is NVRTC on this machine?\n");
        return NOT_HERE;
    }
    must(code, "cuModuleLoad");
    prepare(&launch, test);
    run(module, &launch, test);
    int good = check(&launch, test);
    good = check_record(module, test->kernel) && good;
    printf("%s: %zu requests, %s\n", test->name, test->count, good ? "all right" : "WRONG");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
