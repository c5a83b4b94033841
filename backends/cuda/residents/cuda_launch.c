/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares a launch: chooses the shape of the blocks, reserves multiprocessors, makes the kernel's memory,
 * and frees all of it at the end. cuda_resident_start (cuda_presence.c) then puts the kernel onto the GPU;
 * the driver call for that, cuLaunchCooperativeKernel, is in cuda_serial.c.
 *
 * A launch is cooperative and the kernel stays until it is told to leave. All blocks of all kernels of the
 * device must be resident together. So the multiprocessors that the kernels need are added up, and a launch
 * that needs more is refused.
 *
 * Lock: residents->lock is held while the list of residents (launched kernels) changes and while a kernel is
 * started.
 */
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/cuda_failure.h"
#include "backends/cuda/residents/cuda_launch.h"
#include "backends/cuda/residents/cuda_log.h"
#include "backends/cuda/memory/cuda_memory.h"
#include "backends/cuda/compile/cuda_module.h"
#include "backends/cuda/presence/cuda_presence.h"
#include "backends/cuda/presence/cuda_quiet.h"
#include "backends/cuda/driver/cuda_ranges.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/presence/cuda_serial.h"
#include "backends/cuda/presence/cuda_service.h"
#include "backends/cuda/compile/cuda_shape.h"
#include "backends/cuda/presence/cuda_stays.h"
#include "backends/cuda/presence/cuda_tell.h"
#include "backends/cuda/residents/cuda_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gyre/waiting.h"

#define WAIT_POLL_NS 20000

static uint32_t align_up(uint64_t value, uint32_t unit)
{
    return (uint32_t)((value + unit - 1) / unit * unit);
}

static gyre_status find_function(gyre_resident *resident, gyre_module *module,
                                 const struct cuda_kernel *kernel)
{
    gyre_device *device = resident->device;
    char entry[160];
    snprintf(entry, sizeof entry, "gyre_resident_%s", kernel->record.name);
    return cuda_check(device, device->driver->cuModuleGetFunction(&resident->function, module->handle, entry),
                      "cuModuleGetFunction");
}

/* ---- room on the multiprocessors ---- */

static uint32_t units_left(const gyre_device *device)
{
    uint32_t taken = 0;
    for (const gyre_resident *other = device->residents->first; other; other = other->next)
        taken += other->sms;
    return taken < device->sm_count ? device->sm_count - taken : 0;
}

/* Chooses threads and shared memory of a block, and tells how many blocks a multiprocessor holds; 0: none. */
static gyre_status choose_shape(gyre_resident *resident, const struct cuda_kernel *kernel, uint32_t lanes,
                                bool tight, uint32_t *each)
{
    gyre_device *device = resident->device;
    int held = 0;
    cuda_block_shape(device, kernel, lanes, resident->blocks, tight, &resident->threads,
                     &resident->shared_size);
    gyre_status status = cuda_check(
        device,
        device->driver->cuFuncSetAttribute(
            resident->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)resident->shared_size),
        "cuFuncSetAttribute");
    if (status == GYRE_OK)
        status = cuda_check(device,
                            device->driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(
                                &held, resident->function, (int)resident->threads, resident->shared_size),
                            "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    *each = (uint32_t)held;
    resident->sms = held ? (resident->blocks + *each - 1) / *each : 0;
    return status;
}

static gyre_status check_room(const gyre_resident *resident, uint32_t each, const char *name)
{
    const gyre_device *device = resident->device;
    const uint32_t left = units_left(device);
    if (each == 0)
        return device->host->error(
            GYRE_INVALID,
            "kernel '%s': a block of %u threads with %u bytes of shared memory does not fit a "
            "multiprocessor; launch fewer lanes",
            name, resident->threads, resident->shared_size);
    if (left == 0)
        return device->host->error(
            GYRE_INVALID,
            "kernel '%s' needs multiprocessors, and other kernels hold all %u that Gyre may use; release one of "
            "these kernels, or launch on another device",
            name, device->sm_count);
    if (resident->sms > left)
        return device->host->error(
            GYRE_INVALID,
            "kernel '%s': %u blocks need %u multiprocessors (%u blocks each), other kernels hold %u, "
            "and Gyre may use %u; launch at most %u blocks",
            name, resident->blocks, resident->sms, each, device->sm_count - left, device->sm_count,
            left * each);
    return GYRE_OK;
}

/*
 * Takes multiprocessors for the kernel. Its blocks get room for many messages each if most of the
 * multiprocessors stay free for other kernels.
 */
static gyre_status take_room(gyre_resident *resident, const struct cuda_kernel *kernel, uint32_t lanes)
{
    /* a kernel with at most 1/SHARE of the free multiprocessors leaves most of them free */
    enum { SHARE = 4 };
    const uint32_t left = units_left(resident->device);
    uint32_t each = 0;
    gyre_status status = choose_shape(resident, kernel, lanes, false, &each);
    const bool much =
        each == 0 || resident->sms > left || (resident->sms > 1 && resident->sms > left / SHARE);
    if (status == GYRE_OK && much)
        status = choose_shape(resident, kernel, lanes, true, &each);
    return status == GYRE_OK ? check_room(resident, each, kernel->record.name) : status;
}

/*
 * Makes the kernel's device memory in one allocation: cursors, relay, arrivals, turns, log, times, then the
 * stages. The head of the log tells the device the log's capacity, and where the times are.
 */
static gyre_status make_memory(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    const struct cuda_driver *driver = device->driver;
    CUstream service = device->residents->service;
    gyre_device_log head = {.capacity = CUDA_LOG_LINES};
    resident->relay_offset = GYRE_QUEUES_MAX * sizeof(gyre_cuda_cursor);
    resident->arrived_offset = resident->relay_offset + sizeof(gyre_cuda_relay);
    resident->turns_offset =
        align_up(resident->arrived_offset + 3 * resident->blocks * sizeof(gyre_u64), sizeof(gyre_cuda_turns));
    resident->log_offset = align_up(resident->turns_offset + resident->blocks * sizeof(gyre_cuda_turns), 256);
    size_t log_size = sizeof(gyre_device_log) + CUDA_LOG_LINES * sizeof(gyre_device_log_line);
    resident->times_offset = align_up(resident->log_offset + log_size, 256);
    resident->stage_offset = align_up(resident->times_offset + sizeof(gyre_control_times), 256);
    head.reserved[GYRE_LOG_TIMES_WORD] = cuda_times_word(resident);
    resident->memory_size = resident->stage_offset + (size_t)resident->blocks * GYRE_CUDA_STAGE_SIZE;
    CUresult result;
    CUDA_PATIENTLY(result, driver->cuMemAllocAsync(&resident->memory, resident->memory_size, service))
    gyre_status status = cuda_check(device, result, "cuMemAllocAsync");
    if (status != GYRE_OK)
        return status;
    status = cuda_check(device, driver->cuMemsetD8Async(resident->memory, 0, resident->stage_offset, service),
                        "cuMemsetD8Async");
    if (status == GYRE_OK)
        status = cuda_check(
            device,
            driver->cuMemcpyHtoDAsync(resident->memory + resident->log_offset, &head, sizeof head, service),
            "cuMemcpyHtoDAsync");
    return status == GYRE_OK ? cuda_check(device, driver->cuStreamSynchronize(service), "cuStreamSynchronize")
                             : status;
}

static gyre_status map_control(gyre_resident *resident, const gyre_resident_desc *desc, CUdeviceptr *address)
{
    gyre_device *device = resident->device;
    gyre_status status = cuda_host_register(device, desc->control, desc->control_size);
    if (status != GYRE_OK)
        return status;
    resident->control_registered = true;
    return cuda_check(device, device->driver->cuMemHostGetDevicePointer(address, desc->control, 0),
                      "cuMemHostGetDevicePointer");
}

/* Takes a line of the orders and the stream that goes with it. */
static gyre_status take_line(gyre_resident *resident)
{
    struct cuda_residents *residents = resident->device->residents;
    uint32_t line = 0;
    while (line < CUDA_RESIDENTS_MAX && residents->taken & UINT64_C(1) << line)
        line++;
    if (line == CUDA_RESIDENTS_MAX)
        return resident->device->host->error(GYRE_EXHAUSTED, "the device has %d kernels, which is the most",
                                             CUDA_RESIDENTS_MAX);
    residents->taken |= UINT64_C(1) << line;
    resident->line = line;
    resident->stream = residents->kernels[line];
    return GYRE_OK;
}

static gyre_status fill_arguments(gyre_resident *resident, const gyre_resident_desc *desc,
                                  CUdeviceptr control)
{
    gyre_device *device = resident->device;
    gyre_cuda_arguments *arguments = &resident->arguments;
    if (desc->binding_count > GYRE_BINDINGS_MAX)
        return device->host->error(GYRE_INVALID,
                                   "a kernel binds at most %d buffers on this backend, found %u",
                                   GYRE_BINDINGS_MAX, desc->binding_count);
    *arguments = (gyre_cuda_arguments){
        .control = (gyre_control_region *)(uintptr_t)control,
        .orders = (const gyre_cuda_orders *)(uintptr_t)device->residents->device_orders + resident->line,
        .cursors = (gyre_cuda_cursor *)(uintptr_t)resident->memory,
        .relay = (gyre_cuda_relay *)(uintptr_t)(resident->memory + resident->relay_offset),
        .arrived = (gyre_u64 *)(uintptr_t)(resident->memory + resident->arrived_offset),
        .turns = (gyre_cuda_turns *)(uintptr_t)(resident->memory + resident->turns_offset),
        .stage = (gyre_u8 *)(uintptr_t)(resident->memory + resident->stage_offset),
        .state = desc->state ? (void *)(uintptr_t)cuda_memory_place(desc->state) : NULL,
        .log = (gyre_device_log *)(uintptr_t)(resident->memory + resident->log_offset),
        .pause_ns = device->settings.pause_ns};
    for (uint32_t i = 0; i < desc->binding_count; i++) {
        arguments->bindings[i].address =
            cuda_memory_place(desc->bindings[i].memory) + desc->bindings[i].offset;
        arguments->bindings[i].count = desc->bindings[i].element_count;
    }
    return GYRE_OK;
}

static gyre_status refuse_wide_grid(const gyre_device *device, const gyre_kernel_record *record,
                                    uint32_t lanes)
{
    if (record->form != GYRE_FORM_GRID || lanes <= GYRE_CUDA_GRID_LANES_MAX)
        return GYRE_OK;
    return device->host->error(
        GYRE_INVALID,
        "kernel '%s' is a grid kernel, whose blocks have at most %d lanes on this backend, "
        "found %u lanes: launch it with fewer, and more blocks",
        record->name, GYRE_CUDA_GRID_LANES_MAX, lanes);
}

/* Fills in the resident and makes its objects. The caller holds residents->lock. */
static gyre_status prepare_resident(gyre_resident *resident, gyre_module *module,
                                    const gyre_resident_desc *desc, const struct cuda_kernel *kernel)
{
    gyre_device *device = resident->device;
    CUdeviceptr control = 0;
    if (!kernel)
        return device->host->error(GYRE_NOT_FOUND, "the module has no kernel '%s'", desc->kernel_name);
    resident->reminds = kernel->record.reminds;
    gyre_status status = refuse_wide_grid(device, &kernel->record, desc->lanes);
    if (status == GYRE_OK)
        status = find_function(resident, module, kernel);
    if (status == GYRE_OK)
        status = take_room(resident, kernel, desc->lanes);
    cuda_times_prepare(resident);
    if (status == GYRE_OK)
        status = make_memory(resident);
    if (status == GYRE_OK)
        status = map_control(resident, desc, &control);
    if (status == GYRE_OK)
        status = take_line(resident);
    if (status == GYRE_OK)
        status = cuda_stays_prepare(resident);
    if (status == GYRE_OK)
        status = cuda_tell_prepare(resident);
    if (status == GYRE_OK)
        status = fill_arguments(resident, desc, control);
    return status;
}

/*
 * Frees the objects that a launch made, however far it came. The kernel is not on the device and not in the
 * list; the caller holds no lock.
 */
static void free_resident(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    const struct cuda_driver *driver = device->driver;
    if (resident->control_registered)
        cuda_host_unregister(resident->control);
    bool quiet = false;
    if ((resident->memory || resident->stream) && cuda_work_begin(device, &quiet) == GYRE_OK) {
        /* a refused launch may have left commands in the stream that touch the memory */
        if (resident->stream)
            cuda_check_gone(device, driver->cuStreamSynchronize(resident->stream), "cuStreamSynchronize");
        if (resident->memory)
            cuda_service_free(device, resident->memory);
        cuda_stays_finish(resident);
        cuda_work_end(device, quiet);
    }
    cuda_launcher_destroy(resident);
    cuda_tell_finish(resident);
    cuda_times_finish(resident);
    if (resident->line < CUDA_RESIDENTS_MAX) {
        pthread_mutex_lock(&device->residents->lock);
        device->residents->taken &= ~(UINT64_C(1) << resident->line);
        pthread_mutex_unlock(&device->residents->lock);
    }
    pthread_mutex_destroy(&resident->order_lock);
    free(resident);
}

/*
 * Whether a thread of the kernel needs more local memory than one of any kernel before. The driver makes it in
 * the launch, for all threads that the device can have, and waits until no kernel is on the device. (On an H200
 * such launches did not return beside others.)
 */
static bool needs_stack(const gyre_device *device, const struct cuda_kernel *kernel)
{
    return kernel && kernel->stack_size > device->residents->stack_size;
}

/* Begins a launch: with no kernel on the device where the driver would wait for that. */
static gyre_status launch_begin(gyre_device *device, const struct cuda_kernel *kernel, bool *quiet)
{
    gyre_status status = cuda_hold_begin(device, quiet);
    if (status != GYRE_OK || *quiet || !needs_stack(device, kernel))
        return status;
    cuda_hold_end(device, false);
    *quiet = true;
    return cuda_quiet_begin(device);
}

/* Puts the kernel onto the device and into the list. The caller holds residents->lock. */
static gyre_status enter_device(gyre_resident *resident, const struct cuda_kernel *kernel)
{
    struct cuda_residents *residents = resident->device->residents;
    gyre_status status = cuda_resident_start(resident);
    if (status != GYRE_OK)
        return status;
    if (kernel->stack_size > residents->stack_size)
        residents->stack_size = kernel->stack_size;
    resident->next = residents->first;
    residents->first = resident;
    cuda_tell_present(resident);
    return GYRE_OK;
}

static gyre_status launch_once(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out)
{
    gyre_device *device = module->device;
    gyre_resident *resident = calloc(1, sizeof *resident);
    if (!resident)
        return device->host->error(GYRE_EXHAUSTED, "no memory to launch a kernel");
    resident->device = device;
    resident->control = desc->control;
    resident->blocks = desc->blocks;
    resident->line = CUDA_RESIDENTS_MAX;
    resident->kernel_log = desc->kernel_log;
    resident->kernel_log_context = desc->kernel_log_context;
    resident->residency_ns = (uint64_t)device->residency_ms * 1000000u;
    snprintf(resident->label, sizeof resident->label, "gyre: %s resident", desc->kernel_name);
    pthread_mutex_init(&resident->order_lock, NULL);
    cuda_range_begin(device->host, "gyre: launch");
    bool quiet = false;
    const struct cuda_kernel *kernel = cuda_module_find(module, desc->kernel_name);
    gyre_status status = launch_begin(device, kernel, &quiet);
    if (status == GYRE_OK) {
        status = prepare_resident(resident, module, desc, kernel);
        if (status == GYRE_OK)
            status = enter_device(resident, kernel);
        cuda_hold_end(device, quiet);
    }
    cuda_range_end();
    if (status != GYRE_OK) {
        free_resident(resident);
        return status;
    }
    *out = resident;
    return GYRE_OK;
}

gyre_status cuda_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out)
{
    gyre_device *device = module->device;
    *out = NULL;
    if (!device->driver)
        return cuda_compile_only(device, "launching a kernel");
    gyre_status status = launch_once(module, desc, out);
    if (status == GYRE_EXHAUSTED && cuda_reclaim(device))
        status = launch_once(module, desc, out);
    return status;
}

/* Looks once whether the kernel has ended. A kernel that leaves to make room for others has not ended. */
static gyre_status look_once(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    pthread_mutex_lock(&device->residents->lock);
    gyre_status status = cuda_resident_await(resident, gyre_clock_ns());
    if (status == GYRE_OK && resident->leaving) /* the kernel left for a moment only */
        status = cuda_resident_return(resident) == GYRE_OK
                     ? device->host->error(GYRE_TIMEOUT, "the kernel is away for a moment")
                     : cuda_lost(device);
    pthread_mutex_unlock(&device->residents->lock);
    return status;
}

gyre_status cuda_wait(gyre_resident *resident, uint64_t deadline_ns)
{
    gyre_device *device = resident->device;
    for (;;) {
        gyre_status status = cuda_enter(device);
        if (status == GYRE_OK)
            status = look_once(resident);
        else if (status != GYRE_LOST) /* the kernel is loaded all the same */
            status = device->host->error(GYRE_TIMEOUT, "whether the kernel left cannot be seen");
        if (status != GYRE_TIMEOUT || gyre_clock_ns() >= deadline_ns)
            return status;
        nanosleep(&(struct timespec){0, WAIT_POLL_NS}, NULL);
    }
}

void cuda_release(gyre_resident *resident)
{
    if (!resident)
        return;
    gyre_device *device = resident->device;
    bool quiet = false;
    const bool works = cuda_hold_begin(device, &quiet) == GYRE_OK;
    if (works)
        cuda_log_drain(resident);
    else
        pthread_mutex_lock(&device->residents->lock);
    gyre_resident **link = &device->residents->first;
    while (*link != resident)
        link = &(*link)->next;
    *link = resident->next;
    if (works)
        cuda_hold_end(device, quiet);
    else
        pthread_mutex_unlock(&device->residents->lock);
    free_resident(resident);
}
