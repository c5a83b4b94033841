/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules and kernels of the driver made of software. Loading, unloading and the first use of a function wait until
 * no kernel is on the device. A launch runs in its stream, once the units that it takes are free; it ends with its
 * kernel, with the fault of any, or with the process. Takes driver.lock, not while a kernel runs.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    REGISTERS = 65536, /* of a unit, handed out to warps in pieces of 256 */
    REGISTER_UNIT = 256,
    THREADS = 2048, /* of a unit */
    BLOCKS = 32,
    BLOCK_THREADS = 1024,
    SYSTEM_SHARED = 1024, /* of each block */
    SHARED_DEFAULT = 48 * 1024,
    STACK_DEFAULT = 1024 /* local memory of each thread, from the start */
};
#define UNIT_SHARED     (MACHINE_SHARED_MAX + SYSTEM_SHARED)
#define LOOK_NS         UINT64_C(20000000)
#define FAULT_UNTOLD_NS 100000000 /* the real one takes 0.4 s and more to tell a trap */

struct CUmod_st {
    struct CUctx_st *context;
    struct machine_module *code;
    struct CUfunc_st *functions;
};

/* ---- modules ---- */

/* $EMULATOR_DUMP names a folder that gets each text. */
static void dump(const char *ptx)
{
    static unsigned number;
    char path[512];
    const char *folder = getenv("EMULATOR_DUMP");
    if (!folder || !folder[0])
        return;
    snprintf(path, sizeof path, "%s/%d-%u.ptx", folder, (int)getpid(), number++);
    FILE *file = fopen(path, "we");
    if (!file)
        return;
    fputs(ptx, file);
    fclose(file);
}

static CUresult read_module(struct CUmod_st *module, const char *image)
{
    char error[512] = "";
    if (memcmp(image, "\177ELF", 4) == 0) /* a cubin, of a GPU that this is not */
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (!strstr(image, ".version"))
        return CUDA_ERROR_INVALID_IMAGE;
    dump(image);
    module->code = machine_module_load(image, error, sizeof error);
    return module->code ? CUDA_SUCCESS
                        : driver_complain(CUDA_ERROR_INVALID_PTX, "cuModuleLoadData", "%s", error);
}

CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
    struct CUctx_st *context;
    CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUmod_st *module = calloc(1, sizeof *module);
    if (!module)
        return CUDA_ERROR_OUT_OF_MEMORY;
    module->context = context;
    pthread_mutex_lock(&driver.lock);
    result = driver_await_quiet(context, "cuModuleLoadData");
    if (result == CUDA_SUCCESS)
        result = read_module(module, image);
    context->modules += result == CUDA_SUCCESS;
    pthread_mutex_unlock(&driver.lock);
    if (result != CUDA_SUCCESS)
        free(module);
    else
        *out = module;
    return result;
}

CUresult cuModuleUnload(CUmodule module)
{
    struct CUctx_st *context;
    CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    result = driver_await_quiet(module->context, "cuModuleUnload");
    if (result == CUDA_SUCCESS) {
        module->context->modules--;
        machine_module_unload(module->code);
    }
    pthread_mutex_unlock(&driver.lock);
    while (result == CUDA_SUCCESS && module->functions) {
        struct CUfunc_st *function = module->functions;
        module->functions = function->next;
        free(function);
    }
    if (result == CUDA_SUCCESS)
        free(module);
    return result;
}

/* ---- functions ---- */

/* A compiler gives a thread no more registers than a block of the largest size has for each. */
static struct machine_function_info describe(const struct machine_function *code)
{
    struct machine_function_info info = machine_function_describe(code);
    const uint32_t most = info.threads_max ? REGISTERS / info.threads_max : 255;
    if (info.registers > most)
        info.registers = most;
    return info;
}

/* driver.lock held. */
static struct CUfunc_st *find_function(struct CUmod_st *module, const char *name)
{
    struct CUfunc_st *function = module->functions;
    while (function && strcmp(function->name, name) != 0)
        function = function->next;
    if (function)
        return function;
    const struct machine_function *code = machine_function_find(module->code, name);
    function = code ? calloc(1, sizeof *function) : NULL;
    if (!function)
        return NULL;
    function->module = module;
    function->code = code;
    function->info = describe(code);
    snprintf(function->name, sizeof function->name, "%s", name);
    function->next = module->functions;
    module->functions = function;
    return function;
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    *out = find_function(module, name);
    pthread_mutex_unlock(&driver.lock);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* Functions are loaded when they are first used, and that waits. driver.lock held. */
static CUresult load_function(struct CUfunc_st *function, const char *call)
{
    CUresult result = driver_fault(call);
    if (result == CUDA_SUCCESS && !function->loaded)
        result = driver_await_quiet(function->module->context, call);
    function->loaded = function->loaded || result == CUDA_SUCCESS;
    return result;
}

static CUresult use_function(struct CUfunc_st *function, const char *call)
{
    struct CUctx_st *context;
    CUresult result = driver_enter(&context, call);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    result = load_function(function, call);
    pthread_mutex_unlock(&driver.lock);
    return result;
}

CUresult cuFuncLoad(CUfunction function)
{
    return use_function(function, "cuFuncLoad");
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value)
{
    const CUresult result = use_function(function, "cuFuncSetAttribute");
    if (result != CUDA_SUCCESS)
        return result;
    if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        return driver_complain(CUDA_ERROR_INVALID_VALUE, "cuFuncSetAttribute", "attribute %d is not modelled",
                               (int)which);
    if (value < 0 || (uint64_t)value + function->info.shared_bytes > MACHINE_SHARED_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    function->dynamic_max = (uint32_t)value;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function)
{
    const CUresult result = use_function(function, "cuFuncGetAttribute");
    if (result != CUDA_SUCCESS)
        return result;
    switch (which) {
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)function->info.registers;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)function->info.local_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)function->info.shared_bytes;
        return CUDA_SUCCESS;
    default:
        return driver_complain(CUDA_ERROR_INVALID_VALUE, "cuFuncGetAttribute", "attribute %d is not modelled",
                               (int)which);
    }
}

/* ---- room ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint32_t dynamic_limit(const struct CUfunc_st *function)
{
    if (function->dynamic_max > 0)
        return function->dynamic_max;
    return function->info.shared_bytes < SHARED_DEFAULT ? SHARED_DEFAULT - function->info.shared_bytes : 0;
}

/* Blocks that a unit holds; 0: not one. */
static uint32_t occupancy(const struct CUfunc_st *function, uint32_t threads, uint64_t dynamic_shared)
{
    const uint64_t warps = (threads + MACHINE_WARP - 1) / MACHINE_WARP;
    const uint64_t each = ((uint64_t)function->info.registers * MACHINE_WARP + REGISTER_UNIT - 1) /
                          REGISTER_UNIT * REGISTER_UNIT;
    const uint64_t shared = function->info.shared_bytes + dynamic_shared + SYSTEM_SHARED;
    if (!warps || threads > BLOCK_THREADS || threads > function->info.threads_max ||
        dynamic_shared > dynamic_limit(function))
        return 0;
    const uint64_t by_registers = each ? REGISTERS / each / warps : BLOCKS;
    return (uint32_t)least(least(THREADS / (warps * MACHINE_WARP), by_registers),
                           least(UNIT_SHARED / shared, BLOCKS));
}

CUresult cuCtxGetLimit(size_t *value, CUlimit which)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    if (which != CU_LIMIT_STACK_SIZE)
        return driver_complain(CUDA_ERROR_UNSUPPORTED_LIMIT, "cuCtxGetLimit", "limit %d is not modelled",
                               (int)which);
    pthread_mutex_lock(&driver.lock);
    *value = context->stack ? context->stack : STACK_DEFAULT;
    pthread_mutex_unlock(&driver.lock);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, CUfunction function, int threads,
                                                     size_t shared)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS || threads <= 0)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    *count = (int)occupancy(function, (uint32_t)threads, shared);
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

static void end_by_fault(const struct machine_fault *fault)
{
    static const struct {
        CUresult result;
        const char *text;
    } ends[] = {
        [MACHINE_ILLEGAL_ADDRESS] = {CUDA_ERROR_ILLEGAL_ADDRESS, "an address that is not there"},
        [MACHINE_MISALIGNED] = {CUDA_ERROR_MISALIGNED_ADDRESS, "an address that is not aligned"},
        [MACHINE_TRAP] = {CUDA_ERROR_LAUNCH_FAILED, "a trap"},
        [MACHINE_ASSERT] = {CUDA_ERROR_ASSERT, "an assertion"},
        [MACHINE_DEADLOCK] = {CUDA_ERROR_LAUNCH_TIMEOUT, "threads that wait for each other for ever"},
    };
    char why[448], place[128] = "";
    if (fault->kind == MACHINE_ILLEGAL_ADDRESS || fault->kind == MACHINE_MISALIGNED)
        driver_memory_describe(fault->address, place, sizeof place);
    snprintf(why, sizeof why, "%s (%#llx%s%s) in %s", ends[fault->kind].text,
             (unsigned long long)fault->address, place[0] ? ", " : "", place, fault->where);
    nanosleep(&(struct timespec){0, FAULT_UNTOLD_NS}, NULL);
    driver_break(ends[fault->kind].result, why);
}

/* Until it ends, or a fault ends all. */
static void await_grid(struct machine_grid *grid, struct machine_fault *fault)
{
    while (!machine_grid_wait(grid, driver_now_ns() + LOOK_NS, fault))
        if (__atomic_load_n(&driver.dying, __ATOMIC_ACQUIRE))
            return;
}

/* False when there will be no more kernels. */
static bool count_running(bool more)
{
    pthread_mutex_lock(&driver.lock);
    const bool runs = !more || !driver.dying;
    if (runs)
        driver.running += more ? 1 : UINT32_MAX;
    pthread_cond_broadcast(&driver.changed);
    pthread_mutex_unlock(&driver.lock);
    return runs;
}

static void run_grid(const struct operation *operation)
{
    struct machine_fault fault = {.kind = MACHINE_NO_FAULT};
    char error[256] = "";
    if (!count_running(true))
        return;
    struct machine_grid *grid = machine_grid_start(&operation->launch, error, sizeof error);
    if (grid) {
        await_grid(grid, &fault);
        machine_grid_destroy(grid);
    }
    count_running(false);
    if (!grid)
        driver_break(CUDA_ERROR_LAUNCH_FAILED, error);
    else if (fault.kind != MACHINE_NO_FAULT)
        end_by_fault(&fault);
}

/* Blocks of a cooperative launch start together, when there is room for all. */
static bool is_combining(const struct CUfunc_st *function)
{
    return strncmp(function->name, "gyre_combine", 12) == 0;
}

static void run_launch(struct operation *operation)
{
    struct CUctx_st *context = operation->function->module->context;
    struct patience patience = {0};
    if (is_combining(operation->function))
        driver_combine_begins();
    pthread_mutex_lock(&driver.lock);
    while (context->units_taken + operation->units > driver.units && driver.fault == CUDA_SUCCESS)
        driver_await_change(&patience, operation->function->name, "units that other kernels have");
    context->units_taken += operation->units;
    pthread_mutex_unlock(&driver.lock);
    if (__atomic_load_n(&driver.fault, __ATOMIC_ACQUIRE) == CUDA_SUCCESS)
        run_grid(operation);
    pthread_mutex_lock(&driver.lock);
    context->units_taken -= operation->units;
    context->grids--;
    pthread_cond_broadcast(&driver.changed);
    pthread_mutex_unlock(&driver.lock);
}

/* One block of memory: pointers, then what they point to. */
static void *const *copy_arguments(const struct CUfunc_st *function, void **arguments)
{
    const uint32_t count = function->info.argument_count;
    size_t size = (count + 1) * sizeof(void *);
    for (uint32_t i = 0; i < count; i++)
        size += (function->info.argument_sizes[i] + 15u) / 16 * 16;
    void **copies = calloc(1, size + 16);
    if (!copies)
        return NULL;
    unsigned char *next = (unsigned char *)(copies + count + 1);
    for (uint32_t i = 0; i < count; i++) {
        copies[i] = memcpy(next, arguments[i], function->info.argument_sizes[i]);
        next += (function->info.argument_sizes[i] + 15u) / 16 * 16;
    }
    return copies;
}

/* Under driver.lock: whether a launch is one that can run. */
static CUresult check_launch(struct CUfunc_st *function, const struct machine_launch *launch, uint32_t *units)
{
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    const uint32_t each = occupancy(function, threads, launch->dynamic_shared);
    if (!blocks || !threads || threads > BLOCK_THREADS || launch->dynamic_shared > dynamic_limit(function))
        return CUDA_ERROR_INVALID_VALUE;
    if (each == 0)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (blocks > (uint64_t)each * driver.units)
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    *units = (uint32_t)((blocks + each - 1) / each);
    return CUDA_SUCCESS;
}

/* Local memory is made for all threads of the device, when a kernel needs more of it than any before, and that waits. driver.lock held. */
static CUresult make_stack(const struct CUfunc_st *function, const char *call)
{
    struct CUctx_st *context = function->module->context;
    if (!context->stack)
        context->stack = STACK_DEFAULT;
    if (function->info.local_bytes <= context->stack)
        return CUDA_SUCCESS;
    const CUresult result = driver_await_quiet(context, call);
    if (result == CUDA_SUCCESS)
        context->stack = function->info.local_bytes;
    return result;
}

/* driver.lock held. */
static CUresult prepare(struct operation *operation, void **arguments)
{
    struct CUfunc_st *function = operation->function;
    struct CUctx_st *context = function->module->context;
    CUresult result = is_combining(function) ? driver_combine(context) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        result = load_function(function, "cuLaunchCooperativeKernel");
    if (result == CUDA_SUCCESS)
        result = check_launch(function, &operation->launch, &operation->units);
    if (result == CUDA_SUCCESS)
        result = make_stack(function, "cuLaunchCooperativeKernel");
    if (result != CUDA_SUCCESS)
        return result;
    operation->launch.arguments = copy_arguments(function, arguments);
    if (!operation->launch.arguments)
        return CUDA_ERROR_OUT_OF_MEMORY;
    context->grids++;
    snprintf(context->newest, sizeof context->newest, "%s", function->name);
    return CUDA_SUCCESS;
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                   CUstream stream, void **arguments)
{
    struct CUctx_st *context;
    CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    struct operation *operation = driver_operation(stream, run_launch);
    operation->function = function;
    operation->launch = (struct machine_launch){.function = function->code,
                                                .grid = {grid_x, grid_y, grid_z},
                                                .block = {block_x, block_y, block_z},
                                                .dynamic_shared = shared};
    pthread_mutex_lock(&driver.lock);
    result = prepare(operation, arguments);
    pthread_mutex_unlock(&driver.lock);
    if (result != CUDA_SUCCESS) {
        free(operation);
        return result;
    }
    driver_submit(operation);
    if (!driver.serial)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&driver.lock);
    result = driver_await_stream(stream, "cuLaunchCooperativeKernel");
    pthread_mutex_unlock(&driver.lock);
    return result;
}
