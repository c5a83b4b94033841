/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches kernels: starts one worker for each block, in a thread of the device's pool. The control word ends
 * the workers. A worker's loop is in cpu_worker.c.
 *
 * Takes no lock: the core calls launch and release one at a time, and wait only reads a counter.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/check/cpu_check.h"
#include "backends/cpu/handling/cpu_grid.h"
#include "backends/cpu/workers/cpu_launch.h"
#include "backends/cpu/cpu_lines.h"
#include "backends/cpu/links/cpu_ports.h"
#include "backends/cpu/compile/cpu_module.h"
#include "backends/cpu/cpu_resident.h"
#include "backends/cpu/check/cpu_turns.h"
#include "backends/cpu/check/cpu_window.h"
#include "backends/cpu/threads/cpu_seat.h"
#include "backends/cpu/handling/cpu_times.h"
#include "gyre/lack.h"
#include "gyre/waiting.h"

static void log_of_kernel(gyre_context *context, const char *text, gyre_i64 value)
{
    const struct cpu_worker *worker = context->owner;
    if (worker->resident->kernel_log)
        worker->resident->kernel_log(worker->resident->kernel_log_context, text, value);
}

/* What handlers call, by what they may call besides; the second of each: with the time of turns. */
#define SERVICES(name, lanes_barrier, lanes_grid, lanes_cells)                                               \
    static const gyre_cpu_services name[] = {{.barrier = lanes_barrier,                                      \
                                              .grid_barrier = lanes_grid,                                    \
                                              .cells = lanes_cells,                                          \
                                              .log = log_of_kernel,                                          \
                                              .time_ns = gyre_clock_ns,                                      \
                                              .index_out_of_range = cpu_checked_refuse},                     \
                                             {.barrier = lanes_barrier,                                      \
                                              .grid_barrier = lanes_grid,                                    \
                                              .cells = lanes_cells,                                          \
                                              .log = log_of_kernel,                                          \
                                              .time_ns = cpu_turns_time_ns,                                  \
                                              .index_out_of_range = cpu_checked_refuse}}
SERVICES(block_services, cpu_lanes_barrier, cpu_grid_refuse_barrier, cpu_lanes_cells);
SERVICES(lane_services, cpu_lanes_refuse_barrier, cpu_grid_refuse_barrier, cpu_lanes_refuse_cells);
SERVICES(grid_services, cpu_lanes_barrier, cpu_grid_barrier, cpu_lanes_cells);

static const gyre_cpu_services *services_of(const gyre_resident *resident)
{
    const int in_turns = resident->device->turns != NULL;
    if (resident->kernel->form == GYRE_FORM_GRID)
        return &grid_services[in_turns];
    return gyre_form_shares(resident->kernel->form) ? &block_services[in_turns] : &lane_services[in_turns];
}

static void free_resident(gyre_resident *resident)
{
    for (uint32_t i = 0; resident->workers && i < resident->worker_count; i++) {
        cpu_lanes_destroy(resident->workers[i].lanes);
        free(resident->workers[i].scratch);
        free(resident->workers[i].stage.request);
        free(resident->workers[i].stage.reply);
        cpu_check_finish(&resident->workers[i]);
        cpu_ports_finish(&resident->workers[i]);
    }
    cpu_grid_destroy(resident->grid);
    free(resident->seat);
    free(resident->workers);
    free(resident->windows);
    free(resident->bindings);
    free(resident);
}

/* Makes the lanes and the scratch memory, which the worker of a block kernel needs beside its thread. */
static bool prepare_lanes(struct cpu_worker *worker)
{
    const struct gyre_resident *resident = worker->resident;
    const gyre_cpu_kernel *kernel = resident->kernel;
    uint64_t alignment =
        kernel->scratch_alignment > GYRE_LINE_SIZE ? kernel->scratch_alignment : GYRE_LINE_SIZE;
    if (!gyre_form_shares(kernel->form))
        return true;
    worker->lanes =
        cpu_lanes_create(resident->lanes * resident->together, resident->device->settings.lane_stack_size);
    /* whole lines: the worker writes the scratch all the time */
    const uint64_t size = (kernel->scratch_size + alignment) / alignment * alignment;
    worker->scratch = aligned_alloc(alignment, size * resident->together);
    if (!worker->lanes || !worker->scratch)
        return false;
    for (uint32_t i = 1; i < resident->block_count / resident->worker_count; i++)
        __atomic_store_n(&worker->line[i].tells, 1,
                         __ATOMIC_RELAXED); /* lines of blocks that have no worker */
    if (resident->together == 1)
        return true;
    cpu_lanes_split(worker->lanes, resident->together, size);
    worker->scratch_size = size;
    return true;
}

/*
 * Makes the stage: memory where the worker handles other programs' messages that exceed a line. It is zeroed,
 * because a handler may read behind a request. The stage of an idle kernel takes no pages.
 */
static bool prepare_stage(struct cpu_worker *worker)
{
    const gyre_cpu_sizes *sizes = &worker->resident->kernel->sizes;
    if (sizes->request > GYRE_SLOT_SMALL_PAYLOAD)
        worker->stage.request = calloc(1, sizes->request);
    if (sizes->reply > GYRE_SLOT_SMALL_PAYLOAD)
        worker->stage.reply = calloc(1, sizes->reply);
    return (worker->stage.request || sizes->request <= GYRE_SLOT_SMALL_PAYLOAD) &&
           (worker->stage.reply || sizes->reply <= GYRE_SLOT_SMALL_PAYLOAD);
}

static gyre_status prepare_workers(gyre_resident *resident)
{
    gyre_control_block *lines = (gyre_control_block *)(resident->control + 1);
    resident->workers = cpu_lines_alloc(resident->worker_count, sizeof *resident->workers);
    if (resident->device->checks)
        resident->windows = calloc(GYRE_QUEUES_MAX, sizeof *resident->windows);
    bool complete = resident->workers && (resident->windows || !resident->device->checks) &&
                    (resident->blocks == resident->worker_count || cpu_grid_create(resident));
    for (uint32_t i = 0; complete && i < resident->worker_count; i++) {
        struct cpu_worker *worker = &resident->workers[i];
        worker->resident = resident;
        worker->block = i;
        worker->line = &lines[i];
        cpu_times_prepare(worker);
        worker->context = (gyre_context){
            .lane_count = gyre_form_shares(resident->kernel->form) ? resident->lanes : 1,
            .block = i,
            .block_count = resident->worker_count > 1 ? resident->block_count : resident->together,
            .services = services_of(resident),
            .owner = worker,
            .handles = GYRE_CONTROL_HANDLES(resident->control, resident->block_count)};
        if (i < resident->blocks)
            cpu_worker_init(worker);
        else
            cpu_grid_init(worker);
        complete = prepare_lanes(worker) && prepare_stage(worker) && cpu_ports_init(worker) &&
                   cpu_check_prepare(worker);
    }
    if (complete)
        return GYRE_OK;
    return resident->device->host->error(GYRE_EXHAUSTED, "no memory for %u blocks of %u lanes; launch fewer",
                                         resident->block_count, resident->lanes);
}

static gyre_status copy_bindings(gyre_resident *resident, const gyre_resident_desc *desc)
{
    resident->bindings = cpu_lines_alloc((size_t)desc->binding_count + 1, sizeof *resident->bindings);
    if (!resident->bindings)
        return resident->device->host->error(GYRE_EXHAUSTED, "no memory for %u bindings",
                                             desc->binding_count);
    for (uint32_t i = 0; i < desc->binding_count; i++) {
        const gyre_binding_desc *binding = &desc->bindings[i];
        resident->bindings[i].data = (unsigned char *)binding->memory->data + binding->offset;
        resident->bindings[i].count = binding->element_count;
    }
    return GYRE_OK;
}

/* Waits until all started workers have left. */
static void await_workers(gyre_resident *resident)
{
    uint32_t present;
    while ((present = __atomic_load_n(&resident->present, __ATOMIC_ACQUIRE)) != 0)
        gyre_futex_wait(&resident->present, present, UINT64_MAX);
    cpu_pool_settle(resident->device->pool);
}

/* Starts a worker, or a block that waits for the messages of another. Returns 0, or the error of pthread_create. */
static int start_worker(gyre_resident *resident, uint32_t block)
{
    struct cpu_worker *worker = &resident->workers[block];
    if (block >= resident->blocks)
        return cpu_pool_start(resident->device->pool, &worker->task);
    cpu_seats_count_awake(resident->device->seats, 1);
    cpu_turns_enlist(worker, cpu_worker_has_work);
    const int error = cpu_pool_start(resident->device->pool, &worker->task);
    if (error) {
        cpu_seats_count_awake(resident->device->seats, -1);
        cpu_turns_leave(worker);
    }
    return error;
}

/*
 * Starts the workers. If a thread does not start, ends the started workers by the control word, as always;
 * after a failure the core makes the control region anew.
 */
static gyre_status start_workers(gyre_resident *resident)
{
    resident->present = resident->worker_count;
    for (uint32_t i = 0; i < resident->worker_count; i++) {
        const int error = start_worker(resident, i);
        if (!error)
            continue;
        __atomic_sub_fetch(&resident->present, resident->worker_count - i,
                           __ATOMIC_RELAXED); /* relaxed: only await_workers reads it */
        __atomic_store_n(&resident->control->command.command, GYRE_VERB_STOP, __ATOMIC_RELEASE);
        gyre_bell_ring(&resident->control->doorbell.bell, INT_MAX);
        await_workers(resident);
        return resident->device->host->error(
            GYRE_EXHAUSTED, "worker thread %u of %u could not be started: %s%s", i + 1,
            resident->worker_count, strerror(error), gyre_lack_remedy(error));
    }
    return GYRE_OK;
}

/* All blocks of a grid become one worker's: as many as have lanes there. */
static void put_together(gyre_resident *resident)
{
    const uint32_t most = CPU_LANES_MAX / resident->lanes;
    resident->worker_count = 1;
    resident->together = resident->block_count < most ? resident->block_count : most;
}

/* Whether a thread of the core that begins by default has as much stack as a worker. */
static bool threads_have_stack(const struct gyre_device *device)
{
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    return size >= CPU_WORKER_STACK_SIZE + device->settings.lane_stack_size;
}

/*
 * Threads of the core may help the worker of a keyed actor that has one block: its handler calls no lanes. Not where it matters which
 * thread runs a handler: one of a processor that was chosen, or one whose turn it is.
 */
static bool may_be_helped(const gyre_resident *resident)
{
    const struct gyre_device *device = resident->device;
    return resident->kernel->form == GYRE_FORM_KEYED && resident->block_count == 1 && !device->checks &&
           !device->turns && !device->settings.pin_count && !resident->kernel->remind &&
           threads_have_stack(device);
}

gyre_status cpu_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out)
{
    *out = NULL;
    gyre_resident *resident = cpu_lines_alloc(1, sizeof *resident);
    if (!resident)
        return module->device->host->error(GYRE_EXHAUSTED, "no memory to launch a kernel");
    resident->device = module->device;
    resident->kernel = cpu_module_find(module, desc->kernel_name);
    resident->control = desc->control;
    resident->state = desc->state ? desc->state->data : NULL;
    resident->idle = desc->idle;
    resident->spin_turns = desc->spin_turns;
    resident->lanes = desc->lanes;
    resident->block_count = desc->blocks;
    resident->blocks =
        resident->kernel && resident->kernel->form == GYRE_FORM_GRID ? 1 : resident->block_count;
    resident->worker_count = resident->block_count;
    resident->together = 1;
    if (resident->blocks < resident->block_count && module->device->checks)
        put_together(resident);
    resident->light_barriers = gyre_barrier_register();
    resident->kernel_log = desc->kernel_log;
    resident->kernel_log_context = desc->kernel_log_context;
    resident->errand = desc->errand;
    resident->trace = desc->trace;
    gyre_status status = GYRE_OK;
    if (!resident->kernel)
        status =
            module->device->host->error(GYRE_NOT_FOUND, "the module has no kernel '%s'", desc->kernel_name);
    if (status == GYRE_OK)
        status = copy_bindings(resident, desc);
    if (status == GYRE_OK)
        status = prepare_workers(resident);
    if (status == GYRE_OK && desc->helped && may_be_helped(resident))
        resident->seat = cpu_lines_alloc(1, sizeof *resident->seat); /* without one nobody helps */
    if (status == GYRE_OK)
        status = start_workers(resident);
    if (status != GYRE_OK) {
        free_resident(resident);
        return status;
    }
    *out = resident;
    return GYRE_OK;
}

gyre_status cpu_wait(gyre_resident *resident, uint64_t deadline_ns)
{
    uint32_t present;
    while ((present = __atomic_load_n(&resident->present, __ATOMIC_ACQUIRE)) != 0) {
        if (gyre_clock_ns() >= deadline_ns)
            return resident->device->host->error(GYRE_TIMEOUT, "%u of %u workers are still inside a handler",
                                                 present, resident->worker_count);
        gyre_futex_wait(&resident->present, present, deadline_ns);
    }
    return GYRE_OK;
}

gyre_status cpu_help(gyre_resident *resident)
{
    if (!resident->seat)
        return GYRE_UNIMPLEMENTED;
    cpu_worker_help(&resident->workers[0]);
    return GYRE_OK;
}

void cpu_release(gyre_resident *resident)
{
    if (!resident)
        return;
    await_workers(resident);
    free_resident(resident);
}
