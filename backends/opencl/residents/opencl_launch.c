/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches kernels: makes the entry (the cl_kernel) with its arguments, the command queues, and the pump's
 * thread, which the control word ends.
 *
 * Takes no lock: the core calls launch and release one at a time, and wait only looks at a word.
 */
#include "backends/opencl/epochs/opencl_carry.h"
#include "backends/opencl/opencl_check.h"
#include "backends/opencl/compile/opencl_compile.h"
#include "backends/opencl/epochs/opencl_epoch.h"
#include "backends/opencl/residents/opencl_launch.h"
#include "backends/opencl/links/opencl_links.h"
#include "backends/opencl/compile/opencl_module.h"
#include "backends/opencl/residents/opencl_pump.h"
#include "backends/opencl/residents/opencl_reminders.h"
#include "backends/opencl/epochs/opencl_report.h"
#include "backends/opencl/residents/opencl_stay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/lack.h"
#include "gyre/thread.h"
#include "gyre/waiting.h"

/* Numbers of the entry's parameters that all epochs share: state, log and control, then the buffers. */
enum { ARGUMENT_STATE = 3, ARGUMENT_BUFFERS = 6, ARGUMENT_LINKS = 14, FIRST_LIMIT = 1 };

/* ---- the entry ---- */

static gyre_status create_entry(gyre_resident *resident, gyre_module *module)
{
    const gyre_device *device = resident->device;
    char name[160];
    cl_program program;
    cl_int code;
    gyre_status status = opencl_module_program(
        module, resident->lanes_meet ? OPENCL_LANES_MEET : OPENCL_LANES_ALONE, &program);
    if (status != GYRE_OK)
        return status;
    snprintf(name, sizeof name, "gyre_epoch_%s", resident->kernel->record.name);
    resident->entry = device->cl->clCreateKernel(program, name, &code);
    return opencl_check(device, code, "clCreateKernel");
}

static gyre_status read_limit(const gyre_resident *resident, cl_kernel_work_group_info what, size_t size,
                              uint64_t *value)
{
    const gyre_device *device = resident->device;
    *value = 0;
    return opencl_check(
        device, device->cl->clGetKernelWorkGroupInfo(resident->entry, device->id, what, size, value, NULL),
        "clGetKernelWorkGroupInfo");
}

/*
 * Checks that the lanes fit the device. Only lanes that meet at barriers need one work-group; other lanes
 * come in groups of any size.
 */
static gyre_status fit_lanes(gyre_resident *resident)
{
    const gyre_device *device = resident->device;
    uint64_t lanes_max;
    gyre_status status = read_limit(resident, CL_KERNEL_WORK_GROUP_SIZE, sizeof(size_t), &lanes_max);
    if (status != GYRE_OK)
        return status;
    resident->group_max = opencl_least(lanes_max, resident->lanes);
    if (resident->lanes <= lanes_max || !resident->lanes_meet)
        return GYRE_OK;
    return device->host->error(GYRE_INVALID,
                               "kernel '%s': a block of %u lanes does not fit device '%s', which runs this "
                               "kernel with at most %llu; launch fewer lanes",
                               resident->kernel->record.name, resident->lanes, device->name,
                               (unsigned long long)lanes_max);
}

static gyre_status check_local_memory(const gyre_resident *resident)
{
    const gyre_device *device = resident->device;
    uint64_t local_size;
    gyre_status status = read_limit(resident, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(cl_ulong), &local_size);
    if (status != GYRE_OK || local_size <= device->local_size)
        return status;
    return device->host->error(GYRE_INVALID,
                               "kernel '%s': a block needs %llu bytes of local memory, scratch included, and "
                               "device '%s' has %llu; declare less scratch",
                               resident->kernel->record.name, (unsigned long long)local_size, device->name,
                               (unsigned long long)device->local_size);
}

/* ---- making ---- */

static gyre_status create_queue(const gyre_resident *resident, cl_command_queue *queue)
{
    const gyre_device *device = resident->device;
    cl_int code;
    *queue = device->cl->clCreateCommandQueue(
        device->context, device->id, device->settings.profile ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    return opencl_check(device, code, "clCreateCommandQueue");
}

/*
 * Makes the command queues. Where messages are copied, every place for an epoch has its own queue. In it
 * write, kernel and read follow each other without events, and epochs overlap.
 */
static gyre_status create_queues(gyre_resident *resident)
{
    const uint32_t places = resident->device->direct ? 0 : resident->device->settings.epochs;
    gyre_status status = create_queue(resident, &resident->compute);
    for (uint32_t i = 0; i < places && status == GYRE_OK; i++)
        status = create_queue(resident, &resident->epochs[i].commands);
    return status;
}

/*
 * Returns how many kernels of the launch may run at once. Each has blocks of its own, so that the values that
 * a handler keeps for its block or lane stay its own. An actor, keyed or not, or a launch with one block, runs
 * one kernel at a time.
 */
static uint32_t count_ways(const gyre_resident *resident)
{
    const bool serial = opencl_is_serial(resident);
    const uint32_t ways = serial ? 1 : opencl_least(resident->blocks, resident->device->settings.epochs);
    return resident->device->direct || resident->links || !ways ? 1 : ways;
}

/* Whether messages of the type name buffers: by a handle, or by a span that may lie in a buffer. */
static bool names_buffers(const gyre_type *type)
{
    if (strcmp(type->name, "gyre_handle") == 0 || strstr(type->fields, " span[]") ||
        strstr(type->fields, " utf8[]"))
        return true;
    for (const gyre_type *const *field = type->field_types; field && *field; field++)
        if (names_buffers(*field))
            return true;
    return false;
}

static gyre_status prepare_handles(gyre_resident *resident)
{
    const gyre_device *device = resident->device;
    if (!device->shared_addresses || !names_buffers(resident->kernel->record.request))
        return GYRE_OK;
    resident->handles = calloc(GYRE_HANDLES_MAX, sizeof *resident->handles);
    return resident->handles ? GYRE_OK
                             : device->host->error(GYRE_EXHAUSTED, "no memory for the names of buffers");
}

static gyre_status map_control(gyre_resident *resident, const gyre_resident_desc *desc)
{
    const gyre_device *device = resident->device;
    cl_int code;
    if (!device->direct && !resident->handles)
        return GYRE_OK;
    resident->control_memory =
        device->direct
            ? device->cl->clCreateBuffer(device->context, CL_MEM_USE_HOST_PTR | CL_MEM_READ_WRITE,
                                         desc->control_size, desc->control, &code)
            : device->cl->clCreateBuffer(device->context, CL_MEM_READ_ONLY,
                                         GYRE_HANDLES_MAX * sizeof(gyre_control_handle), NULL, &code);
    return opencl_check(device, code, "clCreateBuffer");
}

/* Binds a buffer from an offset on: to OpenCL that is a buffer of its own (a sub-buffer), or an address. */
static gyre_status bind_one(const gyre_resident *resident, const gyre_binding_desc *binding,
                            struct opencl_argument *out)
{
    const gyre_device *device = resident->device;
    const struct gyre_memory *memory = binding->memory;
    cl_buffer_region region = {.origin = binding->offset};
    size_t size = 0;
    cl_int code = CL_SUCCESS;
    if (!memory->memory) {
        out->address = (char *)memory->address + binding->offset;
        return GYRE_OK;
    }
    if (binding->offset > 0) {
        code = device->cl->clGetMemObjectInfo(memory->memory, CL_MEM_SIZE, sizeof size, &size, NULL);
        region.size = size - binding->offset;
        if (code == CL_SUCCESS)
            out->memory = device->cl->clCreateSubBuffer(memory->memory, CL_MEM_READ_WRITE,
                                                        CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
        return opencl_check(device, code, "clCreateSubBuffer");
    }
    out->memory = memory->memory;
    return opencl_check(device, device->cl->clRetainMemObject(out->memory), "clRetainMemObject");
}

static gyre_status bind_buffers(gyre_resident *resident, const gyre_resident_desc *desc)
{
    gyre_status status = GYRE_OK;
    if (desc->binding_count > GYRE_BINDINGS_MAX)
        return resident->device->host->error(GYRE_INVALID,
                                             "a kernel binds at most %d buffers on this backend, found %u",
                                             GYRE_BINDINGS_MAX, desc->binding_count);
    for (uint32_t i = 0; i < desc->binding_count && status == GYRE_OK; i++) {
        status = bind_one(resident, &desc->bindings[i], &resident->bindings[i]);
        resident->counts[i] = desc->bindings[i].element_count;
    }
    return status;
}

/*
 * Sets the argument for a parameter. Without a buffer it is left NULL, because drivers look at every buffer
 * of every launch.
 */
static gyre_status set_argument(const gyre_resident *resident, cl_uint index,
                                const struct opencl_argument *argument)
{
    const gyre_device *device = resident->device;
    const cl_mem memory = argument->memory;
    if (argument->address)
        return opencl_check(device,
                            device->cl->clSetKernelArgSVMPointer(resident->entry, index, argument->address),
                            "clSetKernelArgSVMPointer");
    return opencl_check(
        device, device->cl->clSetKernelArg(resident->entry, index, sizeof memory, memory ? &memory : NULL),
        "clSetKernelArg");
}

/* Sets the arguments that are the same in every epoch. */
static gyre_status set_arguments(const gyre_resident *resident)
{
    const struct opencl_argument fixed[] = {
        resident->state, {.memory = resident->log_memory}, {.memory = resident->control_memory}};
    gyre_status status = GYRE_OK;
    for (cl_uint i = 0; i < 3 && status == GYRE_OK; i++)
        status = set_argument(resident, ARGUMENT_STATE + i, &fixed[i]);
    for (cl_uint i = 0; i < GYRE_BINDINGS_MAX && status == GYRE_OK; i++)
        status = set_argument(resident, ARGUMENT_BUFFERS + i, &resident->bindings[i]);
    if (status == GYRE_OK && resident->links)
        status = opencl_check(resident->device,
                              resident->device->cl->clSetKernelArg(resident->entry, ARGUMENT_LINKS,
                                                                   sizeof resident->links->told,
                                                                   &resident->links->told),
                              "clSetKernelArg");
    return status;
}

static gyre_status prepare_resident(gyre_resident *resident, gyre_module *module,
                                    const gyre_resident_desc *desc)
{
    const gyre_host *host = resident->device->host;
    gyre_status status = opencl_lost(resident->device);
    if (status == GYRE_OK && !resident->kernel)
        status = host->error(GYRE_NOT_FOUND, "the module has no kernel '%s'", desc->kernel_name);
    if (status == GYRE_OK)
        status = opencl_reminders_check(resident);
    resident->lanes_meet = status == GYRE_OK && gyre_form_shares(resident->kernel->record.form) &&
                           (resident->lanes > 1 || !resident->device->solo);
    if (status == GYRE_OK && resident->device->settings.stay)
        status = opencl_stay_check(resident);
    if (status == GYRE_OK)
        status = create_entry(resident, module);
    if (status == GYRE_OK)
        status = fit_lanes(resident);
    if (status == GYRE_OK)
        status = check_local_memory(resident);
    if (status == GYRE_OK)
        status = create_queues(resident);
    if (status == GYRE_OK)
        status = prepare_handles(resident);
    if (status == GYRE_OK)
        status = map_control(resident, desc);
    if (status == GYRE_OK)
        status = opencl_log_create(resident);
    if (status == GYRE_OK)
        status = bind_buffers(resident, desc);
    if (status == GYRE_OK)
        status = opencl_links_create(resident);
    if (status == GYRE_OK)
        status = set_arguments(resident);
    if (status != GYRE_OK)
        return status;
    resident->ways = count_ways(resident);
    return resident->device->settings.stay ? opencl_stay_start(resident) : opencl_warm_up(resident);
}

static gyre_status start_pump(gyre_resident *resident)
{
    resident->present = 1;
    int error =
        gyre_thread_start(&resident->thread, NULL,
                          resident->device->settings.stay ? opencl_stay_watch : opencl_pump_main, resident);
    if (!error)
        return GYRE_OK;
    resident->present = 0;
    if (resident->device->settings
            .stay) /* it polls already; after a failure the core makes the control region anew */
        __atomic_store_n(&resident->control->command.command, GYRE_VERB_STOP, __ATOMIC_RELEASE);
    return resident->device->host->error(GYRE_EXHAUSTED, "the kernel's thread could not be started: %s%s",
                                         strerror(error), gyre_lack_remedy(error));
}

/* Frees the objects that a launch made, however far it came. Its thread has ended or never started. */
static void free_resident(gyre_resident *resident)
{
    const struct opencl_loader *cl = resident->device->cl;
    opencl_stay_end(resident);
    opencl_epochs_release(resident);
    opencl_links_destroy(resident);
    if (resident->compute)
        cl->clReleaseCommandQueue(resident->compute);
    for (uint32_t i = 0; i < GYRE_BINDINGS_MAX; i++)
        if (resident->bindings[i].memory)
            cl->clReleaseMemObject(resident->bindings[i].memory);
    if (resident->control_memory)
        cl->clReleaseMemObject(resident->control_memory);
    if (resident->entry)
        cl->clReleaseKernel(resident->entry);
    if (resident->log_memory)
        cl->clReleaseMemObject(resident->log_memory);
    free(resident->log);
    free(resident->handles);
    free(resident);
}

/* ---- the operations ---- */

gyre_status opencl_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out)
{
    gyre_device *device = module->device;
    *out = NULL;
    gyre_resident *resident = calloc(1, sizeof *resident);
    if (!resident)
        return device->host->error(GYRE_EXHAUSTED, "no memory to launch a kernel");
    resident->device = device;
    resident->kernel = opencl_module_find(module, desc->kernel_name);
    resident->control = desc->control;
    if (desc->state)
        resident->state = (struct opencl_argument){
            .memory = desc->state->memory, .address = desc->state->memory ? NULL : desc->state->address};
    resident->lanes = desc->lanes;
    resident->blocks = desc->blocks;
    resident->idle = desc->idle;
    resident->spin_turns = desc->spin_turns;
    resident->light_barriers = gyre_barrier_register();
    resident->kernel_log = desc->kernel_log;
    resident->kernel_log_context = desc->kernel_log_context;
    resident->trace = desc->trace;
    resident->limit = FIRST_LIMIT;
    gyre_status status = prepare_resident(resident, module, desc);
    if (status == GYRE_OK)
        status = start_pump(resident);
    if (status != GYRE_OK) {
        free_resident(resident);
        return status;
    }
    *out = resident;
    return GYRE_OK;
}

gyre_status opencl_wait(gyre_resident *resident, uint64_t deadline_ns)
{
    if (resident->device->settings.stay)
        return opencl_stay_wait(resident, deadline_ns);
    while (__atomic_load_n(&resident->present, __ATOMIC_ACQUIRE)) { /* pairs with the pump's release */
        if (gyre_clock_ns() >= deadline_ns)
            return resident->device->host->error(GYRE_TIMEOUT, "a handler is still running on device '%s'",
                                                 resident->device->name);
        gyre_futex_wait(&resident->present, 1, deadline_ns);
    }
    return __atomic_load_n(&resident->control->device.lost, __ATOMIC_ACQUIRE) ? opencl_lost(resident->device)
                                                                              : GYRE_OK;
}

void opencl_release(gyre_resident *resident)
{
    if (!resident)
        return;
    if (resident->device->settings.stay)
        opencl_stay_end(resident);
    pthread_join(resident->thread, NULL);
    opencl_profile_tell(resident);
    free_resident(resident);
}
