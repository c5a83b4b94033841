/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wraps the operations of a backend's table (dispatch.h). Locks: one per device, held over every operation that is
 * not "threads: any"; the plugin's own lock over device_open. While a lock is held, only the plugin is called. No
 * other file gives absent optional operations their default.
 */
#include "core/dispatch/dispatch.h"
#include "core/base/error.h"
#include "core/isolation/proxy.h"
#include "core/isolation/worker_return.h"
#include "core/loader/loader.h"
#include "gyre/waiting.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * How many workers may try to open the device: the first, and after its death a second. No third, because a caller
 * waits.
 */
enum { WORKERS_TO_OPEN = 2 };

struct gyre_dispatch {
    atomic_uint references;
    uint32_t ordinal;
    struct gyre_plugin *plugin; /* NULL: a worker process has loaded the plugin */
    const gyre_backend_ops *ops;
    gyre_device *device;
    pthread_mutex_t lock;
    struct gyre_host_services host;
    gyre_device_info info;
    char build[128];
    char name[];
};

/* A slot counts as absent when it is NULL or beyond the
 * table of a plugin built for an older minor version. */
#define HAS(ops, slot)                                                                                       \
    ((ops)->size >= offsetof(gyre_backend_ops, slot) + sizeof(ops)->slot && (ops)->slot != NULL)

/*
 * Takes the device's lock. A device in a worker process needs no lock here, because the worker takes one itself.
 * Also, a call that waits for the next worker must not hold up the thread that starts this worker.
 */
static void take_device(struct gyre_dispatch *dispatch)
{
    if (dispatch->plugin)
        pthread_mutex_lock(&dispatch->lock);
}

static void give_device(struct gyre_dispatch *dispatch)
{
    if (dispatch->plugin)
        pthread_mutex_unlock(&dispatch->lock);
}

/* ---- what a plugin may get wrong ---- */

/* Checks the status of an operation that can fail, after the call. The error stack was cleared before the call. */
static gyre_status settle(const char *backend, const char *operation, gyre_status status)
{
    if (status == GYRE_OK)
        return GYRE_OK;
    if (status < GYRE_OK || status > GYRE_INTERNAL)
        return gyre_error_set(GYRE_INTERNAL,
                              "backend '%s': %s returned %d, which is no status: the plugin is faulty",
                              backend, operation, (int)status);
    if (gyre_error_cause()[0] == '\0')
        return gyre_error_set(status, "backend '%s': %s failed and did not say why", backend, operation);
    return gyre_error_add(status, "backend '%s': %s", backend, operation);
}

/*
 * Checks the status of an operation that makes an object. `made`: the operation has set *out. The caller clears *out
 * after a failure.
 */
static gyre_status settle_out(const char *backend, const char *operation, gyre_status status, bool made)
{
    if (status == GYRE_OK && !made)
        return gyre_error_set(GYRE_INTERNAL,
                              "backend '%s': %s succeeded without a result: the plugin is faulty", backend,
                              operation);
    return settle(backend, operation, status);
}

/*
 * Begins an operation that returns nothing: takes the device's lock, and keeps the caller's error from being changed.
 */
static void begin_release(struct gyre_dispatch *dispatch)
{
    take_device(dispatch);
    gyre_error_hold();
}

static void end_release(struct gyre_dispatch *dispatch)
{
    gyre_error_let_go();
    give_device(dispatch);
}

static void end_string(char *text, size_t size)
{
    text[size - 1] = '\0';
}

/* ---- opening and closing ---- */

static gyre_status check_info(struct gyre_dispatch *dispatch)
{
    gyre_device_info *info = &dispatch->info;
    end_string(info->name, sizeof info->name);
    end_string(info->architecture, sizeof info->architecture);
    end_string(info->compiler, sizeof info->compiler);
    end_string(info->details, sizeof info->details);
    end_string(info->limits, sizeof info->limits);
    if (info->lanes_max == 0 || info->blocks_max == 0 || info->lanes_default > info->lanes_max ||
        info->blocks_default > info->blocks_max || info->blocks_default_large > info->blocks_max)
        return gyre_error_set(
            GYRE_INTERNAL,
            "backend '%s': device_info tells %u lanes (default %u) and %u blocks (default %u, for large messages %u): "
            "expected limits of at least 1 and defaults within them",
            dispatch->name, info->lanes_max, info->lanes_default, info->blocks_max, info->blocks_default,
            info->blocks_default_large);
    if (info->lanes_default == 0)
        info->lanes_default = 1;
    if (info->blocks_default == 0)
        info->blocks_default = 1;
    if (info->blocks_default_large == 0)
        info->blocks_default_large = info->blocks_default;
    if (info->block_lane_multiple == 0)
        info->block_lane_multiple = 1;
    return GYRE_OK;
}

static gyre_status open_here(struct gyre_dispatch *dispatch, const struct gyre_candidate *candidate)
{
    const gyre_device_desc desc = {.size = sizeof desc,
                                   .host = &dispatch->host.table,
                                   .parameters = candidate->parameters,
                                   .parameter_count = candidate->parameter_count,
                                   .ordinal = dispatch->ordinal,
                                   .alone = candidate->alone};
    gyre_status status = gyre_plugin_load(candidate->library, &dispatch->plugin);
    if (status != GYRE_OK)
        return gyre_error_add(status, "backend '%s'", candidate->name);
    const gyre_backend_plugin *table = gyre_plugin_table(dispatch->plugin);
    dispatch->ops = table->ops;
    snprintf(dispatch->build, sizeof dispatch->build, "%s", table->build ? table->build : "");
    gyre_error_clear();
    gyre_plugin_lock(dispatch->plugin);
    status = dispatch->ops->device_open(&desc, &dispatch->device);
    gyre_plugin_unlock(dispatch->plugin);
    return settle_out(dispatch->name, "device_open", status, dispatch->device != NULL);
}

/*
 * Whether a worker may try to open the device. No second worker after a timeout: the caller has waited as long as is
 * allowed.
 */
static bool may_try(const struct gyre_candidate *candidate, int worker, uint64_t begun_ns)
{
    return worker == 1 || (candidate->replaced && worker <= WORKERS_TO_OPEN &&
                           gyre_clock_ns() - begun_ns < candidate->worker_timeout_ns);
}

static gyre_status open_in_worker(struct gyre_dispatch *dispatch, const struct gyre_candidate *candidate)
{
    const struct gyre_proxy_desc desc = {.backend = candidate->name,
                                         .library = candidate->library,
                                         .parameters = candidate->parameters,
                                         .parameter_count = candidate->parameter_count,
                                         .ordinal = dispatch->ordinal,
                                         .found =
                                             candidate->judged && dispatch->ordinal < candidate->device_count,
                                         .call_timeout_ns = candidate->worker_timeout_ns,
                                         .standby = candidate->standby,
                                         .log = dispatch->host.log,
                                         .log_context = dispatch->host.log_context};
    dispatch->ops = &gyre_proxy_ops;
    gyre_status status = GYRE_LOST;
    const uint64_t begun = gyre_clock_ns();
    for (int worker = 1; status == GYRE_LOST && may_try(candidate, worker, begun); worker++) {
        if (worker > 1 && desc.log)
            desc.log(desc.log_context, GYRE_LOG_WARNING, gyre_error_text());
        gyre_error_clear();
        status = settle(dispatch->name, "device_open",
                        gyre_proxy_open(&desc, dispatch->build, sizeof dispatch->build, &dispatch->device));
    }
    return status;
}

static gyre_status open_device(struct gyre_dispatch *dispatch, const struct gyre_candidate *candidate)
{
    gyre_status status =
        candidate->isolated ? open_in_worker(dispatch, candidate) : open_here(dispatch, candidate);
    if (status != GYRE_OK) {
        dispatch->device = NULL;
        return status;
    }
    dispatch->info.size = sizeof dispatch->info;
    status =
        settle(dispatch->name, "device_info", dispatch->ops->device_info(dispatch->device, &dispatch->info));
    return status == GYRE_OK ? check_info(dispatch) : status;
}

gyre_status gyre_dispatch_open(const struct gyre_candidate *candidate, uint32_t ordinal,
                               gyre_log_function *log, void *log_context, struct gyre_dispatch **out)
{
    size_t name_size = strlen(candidate->name) + 1;
    *out = NULL;
    struct gyre_dispatch *dispatch = calloc(1, sizeof *dispatch + name_size);
    if (!dispatch)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to open backend '%s'", candidate->name);
    memcpy(dispatch->name, candidate->name, name_size);
    atomic_init(&dispatch->references, 1);
    dispatch->ordinal = ordinal;
    pthread_mutex_init(&dispatch->lock, NULL);
    gyre_host_init(&dispatch->host, log, log_context);
    gyre_status status = open_device(dispatch, candidate);
    if (status != GYRE_OK) {
        gyre_dispatch_close(dispatch);
        return status;
    }
    *out = dispatch;
    return GYRE_OK;
}

struct gyre_dispatch *gyre_dispatch_retain(struct gyre_dispatch *dispatch)
{
    /* relaxed: the caller has a reference already, so nothing is published by this one */
    atomic_fetch_add_explicit(&dispatch->references, 1, memory_order_relaxed);
    return dispatch;
}

void gyre_dispatch_close(struct gyre_dispatch *dispatch)
{
    if (!dispatch || atomic_fetch_sub(&dispatch->references, 1) != 1)
        return;
    if (dispatch->device) {
        begin_release(dispatch);
        dispatch->ops->device_close(dispatch->device);
        end_release(dispatch);
    }
    pthread_mutex_destroy(&dispatch->lock);
    free(dispatch);
}

const char *gyre_dispatch_backend(const struct gyre_dispatch *dispatch)
{
    return dispatch->name;
}

const char *gyre_dispatch_build(const struct gyre_dispatch *dispatch)
{
    return dispatch->build;
}

const gyre_device_info *gyre_dispatch_device_info(const struct gyre_dispatch *dispatch)
{
    return &dispatch->info;
}

static bool beyond_a_line(const gyre_type *type)
{
    return type->size > GYRE_SLOT_SMALL_PAYLOAD;
}

/* A quarter of the device's units, and at least two blocks, so that what needs all blocks is seen on any device. */
static uint32_t grid_blocks_default(const gyre_device_info *info, const gyre_kernel_record *record)
{
    enum { SHARE = 4, LEAST = 2 };
    uint32_t blocks = info->unit_count / SHARE > LEAST ? info->unit_count / SHARE : LEAST;
    if (record->grid_blocks_most && blocks > record->grid_blocks_most)
        blocks = record->grid_blocks_most;
    return blocks < info->blocks_max ? blocks : info->blocks_max;
}

uint32_t gyre_dispatch_blocks_default(const struct gyre_dispatch *dispatch, const gyre_kernel_record *record,
                                      uint32_t held)
{
    /* kernels get more blocks only while all blocks take at most this fraction (1/4) of the device's units */
    enum { SHARE = 4 };
    const gyre_device_info *info = &dispatch->info;
    const uint64_t all = (uint64_t)held + info->blocks_default_large;
    if (record->form == GYRE_FORM_ACTOR)
        return 1;
    if (record->form == GYRE_FORM_KEYED)
        return info->blocks_default;
    if (record->form == GYRE_FORM_GRID)
        return grid_blocks_default(info, record);
    if (record->form != GYRE_FORM_LANE || all * SHARE > info->unit_count)
        return info->blocks_default;
    return beyond_a_line(record->request) || beyond_a_line(record->reply) ? info->blocks_default_large
                                                                          : info->blocks_default;
}

/* ---- devices in a worker process ---- */

bool gyre_dispatch_isolated(const struct gyre_dispatch *dispatch)
{
    return dispatch->ops == &gyre_proxy_ops;
}

void gyre_dispatch_guard(struct gyre_dispatch *dispatch, bool (*lost)(void *context), void *context)
{
    gyre_proxy_guard(dispatch->device, lost, context);
}

void gyre_dispatch_bury(struct gyre_dispatch *dispatch)
{
    gyre_proxy_bury(dispatch->device);
}

gyre_status gyre_dispatch_revive(struct gyre_dispatch *dispatch)
{
    gyre_error_clear();
    return settle(dispatch->name, "restart", gyre_proxy_revive(dispatch->device));
}

bool gyre_dispatch_pause(struct gyre_dispatch *dispatch, uint64_t length_ns)
{
    return gyre_proxy_pause(dispatch->device, length_ns);
}

bool gyre_dispatch_watch(struct gyre_dispatch *dispatch, uint64_t deadline_ns)
{
    return gyre_proxy_watch(dispatch->device, deadline_ns);
}

void gyre_dispatch_kill(struct gyre_dispatch *dispatch, const char *reason)
{
    gyre_proxy_kill(dispatch->device, reason);
}

void gyre_dispatch_reason(struct gyre_dispatch *dispatch, char *text, size_t size)
{
    gyre_proxy_reason(dispatch->device, text, size);
}

bool gyre_dispatch_is_current(struct gyre_dispatch *dispatch, const gyre_resident *resident)
{
    return !gyre_dispatch_isolated(dispatch) || gyre_proxy_is_current(resident);
}

bool gyre_dispatch_stands_by(const struct gyre_dispatch *dispatch)
{
    return gyre_dispatch_isolated(dispatch) && gyre_proxy_stands_by(dispatch->device);
}

uint64_t gyre_dispatch_queue_address(const struct gyre_dispatch *dispatch, const gyre_queue_memory *memory)
{
    (void)dispatch;
    return gyre_proxy_queue_address(memory);
}

/* ---- compiling and loading ---- */

static bool is_filled_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

uint64_t gyre_dispatch_control_address(const struct gyre_dispatch *dispatch, const gyre_resident *resident,
                                       const void *here)
{
    return gyre_dispatch_isolated(dispatch) ? gyre_proxy_control_address(resident)
                                            : (uint64_t)(uintptr_t)here;
}

gyre_status gyre_dispatch_compile(struct gyre_dispatch *dispatch, const gyre_compile_desc *desc)
{
    gyre_error_clear();
    gyre_status status = dispatch->ops->compile(dispatch->device, desc);
    return settle_out(dispatch->name, "compile", status,
                      status != GYRE_OK || is_filled_file(desc->artifact_path));
}

gyre_status gyre_dispatch_module_load(struct gyre_dispatch *dispatch, const gyre_module_desc *desc,
                                      gyre_module **out)
{
    *out = NULL;
    gyre_error_clear();
    take_device(dispatch);
    gyre_status status = dispatch->ops->module_load(dispatch->device, desc, out);
    give_device(dispatch);
    status = settle_out(dispatch->name, "module_load", status, *out != NULL);
    if (status != GYRE_OK)
        *out = NULL;
    return status;
}

static gyre_status check_ports(const char *backend, const gyre_kernel_record *record)
{
    if (record->port_count > GYRE_PORTS_MAX)
        return gyre_error_set(
            GYRE_INTERNAL, "backend '%s': module_kernel tells %u ports for kernel '%s', which has %d at most",
            backend, record->port_count, record->name, GYRE_PORTS_MAX);
    if (record->port_count > 0 && !record->ports)
        return gyre_error_set(GYRE_INTERNAL,
                              "backend '%s': module_kernel tells no list of ports for kernel '%s'", backend,
                              record->name);
    for (uint32_t i = 0; i < record->port_count; i++)
        if (!record->ports[i].name || !record->ports[i].type)
            return gyre_error_set(
                GYRE_INTERNAL, "backend '%s': module_kernel tells no name or type for port %u of kernel '%s'",
                backend, i, record->name);
    return GYRE_OK;
}

static gyre_status check_record(const char *backend, uint32_t index, const gyre_kernel_record *record)
{
    const char *lacking = !record->name                                 ? "name"
                          : !record->request                            ? "request type"
                          : !record->reply                              ? "reply type"
                          : !record->state                              ? "state type"
                          : !record->buffers                            ? "list of buffers"
                          : record->buffers[0] && !record->buffer_types ? "list of buffer types"
                                                                        : NULL;
    if (lacking)
        return gyre_error_set(GYRE_INTERNAL, "backend '%s': module_kernel tells no %s for kernel %u", backend,
                              lacking, index);
    if (record->form < GYRE_FORM_LANE || record->form > GYRE_FORM_GRID)
        return gyre_error_set(GYRE_INTERNAL, "backend '%s': module_kernel tells form %d for kernel '%s'",
                              backend, (int)record->form, record->name);
    return check_ports(backend, record);
}

gyre_status gyre_dispatch_module_kernel(struct gyre_dispatch *dispatch, gyre_module *module, uint32_t index,
                                        gyre_kernel_record *record)
{
    memset(record, 0, sizeof *record);
    record->size = sizeof *record;
    gyre_error_clear();
    gyre_status status = dispatch->ops->module_kernel(module, index, record);
    if (status == GYRE_NOT_FOUND && gyre_error_cause()[0] == '\0')
        return gyre_error_set(GYRE_NOT_FOUND, "the module has %u kernels", index);
    status = settle(dispatch->name, "module_kernel", status);
    return status == GYRE_OK ? check_record(dispatch->name, index, record) : status;
}

void gyre_dispatch_module_release(struct gyre_dispatch *dispatch, gyre_module *module)
{
    if (!module)
        return;
    begin_release(dispatch);
    dispatch->ops->module_release(module);
    end_release(dispatch);
}

/* ---- memory ---- */

gyre_status gyre_dispatch_queue_alloc(struct gyre_dispatch *dispatch, const gyre_queue_memory_desc *desc,
                                      gyre_queue_memory **out, uint64_t *device_address)
{
    *out = NULL;
    *device_address = 0;
    gyre_error_clear();
    take_device(dispatch);
    gyre_status status = dispatch->ops->queue_alloc(dispatch->device, desc, out, device_address);
    give_device(dispatch);
    status = settle_out(dispatch->name, "queue_alloc", status, *out && *device_address);
    if (status != GYRE_OK)
        *out = NULL;
    return status;
}

void gyre_dispatch_queue_release(struct gyre_dispatch *dispatch, gyre_queue_memory *memory)
{
    if (!memory)
        return;
    begin_release(dispatch);
    dispatch->ops->queue_release(memory);
    end_release(dispatch);
}

gyre_status gyre_dispatch_memory_alloc(struct gyre_dispatch *dispatch, uint64_t byte_count, gyre_memory **out)
{
    *out = NULL;
    gyre_error_clear();
    take_device(dispatch);
    gyre_status status = dispatch->ops->memory_alloc(dispatch->device, byte_count, out);
    give_device(dispatch);
    status = settle_out(dispatch->name, "memory_alloc", status, *out != NULL);
    if (status != GYRE_OK)
        *out = NULL;
    return status;
}

void gyre_dispatch_memory_release(struct gyre_dispatch *dispatch, gyre_memory *memory)
{
    if (!memory)
        return;
    begin_release(dispatch);
    dispatch->ops->memory_release(memory);
    end_release(dispatch);
}

gyre_status gyre_dispatch_transfer(struct gyre_dispatch *dispatch, const gyre_transfer_desc *desc)
{
    gyre_error_clear();
    take_device(dispatch);
    gyre_status status = dispatch->ops->transfer(dispatch->device, desc);
    give_device(dispatch);
    return settle(dispatch->name, "transfer", status);
}

gyre_status gyre_dispatch_transfer_now(struct gyre_dispatch *dispatch, const gyre_transfer_desc *desc)
{
    gyre_error_clear();
    if (dispatch->plugin && pthread_mutex_trylock(&dispatch->lock) != 0)
        return gyre_error_set(GYRE_AGAIN, "backend '%s': the device is busy", dispatch->name);
    gyre_status status = dispatch->ops->transfer(dispatch->device, desc);
    give_device(dispatch);
    return settle(dispatch->name, "transfer", status);
}

uint64_t gyre_dispatch_incarnation(const struct gyre_dispatch *dispatch)
{
    return gyre_dispatch_isolated(dispatch) ? gyre_proxy_incarnation(dispatch->device) : 0;
}

gyre_status gyre_dispatch_transfer_in(struct gyre_dispatch *dispatch, const gyre_transfer_desc *desc,
                                      uint64_t incarnation)
{
    if (!gyre_dispatch_isolated(dispatch))
        return gyre_dispatch_transfer(dispatch, desc);
    gyre_error_clear();
    return settle(dispatch->name, "transfer", gyre_proxy_transfer_in(dispatch->device, desc, incarnation));
}

/* ---- resident kernels ---- */

gyre_status gyre_dispatch_launch(struct gyre_dispatch *dispatch, gyre_module *module,
                                 const gyre_resident_desc *desc, gyre_resident **out)
{
    *out = NULL;
    gyre_error_clear();
    take_device(dispatch);
    gyre_status status = dispatch->ops->launch(module, desc, out);
    give_device(dispatch);
    status = settle_out(dispatch->name, "launch", status, *out != NULL);
    if (status != GYRE_OK)
        *out = NULL;
    return status;
}

gyre_status gyre_dispatch_wait(struct gyre_dispatch *dispatch, gyre_resident *resident, uint64_t deadline_ns)
{
    gyre_error_clear();
    return settle(dispatch->name, "wait", dispatch->ops->wait(resident, deadline_ns));
}

bool gyre_dispatch_has_notify(const struct gyre_dispatch *dispatch)
{
    return HAS(dispatch->ops, notify);
}

gyre_status gyre_dispatch_notify(struct gyre_dispatch *dispatch, gyre_resident *resident)
{
    if (!HAS(dispatch->ops, notify))
        return GYRE_OK;
    gyre_error_clear();
    return settle(dispatch->name, "notify", dispatch->ops->notify(resident));
}

bool gyre_dispatch_help(struct gyre_dispatch *dispatch, gyre_resident *resident)
{
    return HAS(dispatch->ops, help) && dispatch->ops->help(resident) == GYRE_OK;
}

void gyre_dispatch_release(struct gyre_dispatch *dispatch, gyre_resident *resident)
{
    if (!resident)
        return;
    begin_release(dispatch);
    dispatch->ops->release(resident);
    end_release(dispatch);
}

gyre_status gyre_dispatch_memory_address(struct gyre_dispatch *dispatch, gyre_memory *memory,
                                         uint64_t *address)
{
    *address = 0;
    if (!HAS(dispatch->ops, memory_address))
        return gyre_error_set(GYRE_UNIMPLEMENTED,
                              "messages cannot name buffers of backend '%s': bind them at the launch",
                              dispatch->name);
    gyre_error_clear();
    return settle(dispatch->name, "memory_address", dispatch->ops->memory_address(memory, address));
}

bool gyre_dispatch_can_copy(const struct gyre_dispatch *dispatch)
{
    return HAS(dispatch->ops, memory_copy) &&
           (!gyre_dispatch_isolated(dispatch) || gyre_proxy_can_copy(dispatch->device));
}

gyre_status gyre_dispatch_memory_copy(struct gyre_dispatch *dispatch, const gyre_copy_desc *desc)
{
    if (!HAS(dispatch->ops, memory_copy))
        return gyre_error_set(GYRE_UNIMPLEMENTED, "backend '%s' does not copy within its device",
                              dispatch->name);
    gyre_error_clear();
    take_device(dispatch);
    gyre_status status = dispatch->ops->memory_copy(dispatch->device, desc);
    give_device(dispatch);
    return settle(dispatch->name, "memory_copy", status);
}

/* ---- named tables ---- */

/* A named table of the backend of a device in this process; NULL: it has none. */
static const void *named_table(struct gyre_dispatch *dispatch, const char *name, uint32_t version)
{
    const void *table = NULL;
    if (!dispatch->plugin || !HAS(dispatch->ops, get_extension))
        return NULL;
    gyre_error_hold();
    const gyre_status status = dispatch->ops->get_extension(dispatch->device, name, version, &table);
    gyre_error_let_go();
    return status == GYRE_OK ? table : NULL;
}

unsigned char *gyre_dispatch_memory_place(struct gyre_dispatch *dispatch, gyre_memory *memory)
{
    const gyre_host_memory_ops *ops = named_table(dispatch, GYRE_HOST_MEMORY_NAME, GYRE_HOST_MEMORY_VERSION);
    return ops && ops->size >= sizeof *ops && ops->place ? ops->place(memory) : NULL;
}

gyre_status gyre_dispatch_memory_peek(struct gyre_dispatch *dispatch, gyre_memory *memory, uint64_t offset,
                                      uint64_t *words, uint64_t byte_count)
{
    const gyre_peek_ops *ops = named_table(dispatch, GYRE_PEEK_NAME, GYRE_PEEK_VERSION);
    gyre_error_clear();
    if (!ops || ops->size < sizeof *ops || !ops->peek)
        return gyre_error_set(GYRE_UNIMPLEMENTED, "backend '%s': memory is read only by a transfer",
                              dispatch->name);
    return settle(dispatch->name, "peek", ops->peek(dispatch->device, memory, offset, words, byte_count));
}

/* ---- peers ---- */

/* The backend's table of peers, if one plugin has both devices; else NULL. */
static const gyre_peer_ops *peer_ops(struct gyre_dispatch *source, struct gyre_dispatch *target)
{
    const gyre_peer_ops *ops = source == target || source->ops != target->ops
                                   ? NULL
                                   : named_table(source, GYRE_PEERS_NAME, GYRE_PEERS_VERSION);
    return ops && ops->size >= offsetof(gyre_peer_ops, combine_prepare) && ops->way && ops->copy ? ops : NULL;
}

/* Takes both locks, always in the same order, so that copies in both directions do not wait for each other. */
static void take_both(struct gyre_dispatch *one, struct gyre_dispatch *other)
{
    take_device((uintptr_t)one < (uintptr_t)other ? one : other);
    take_device((uintptr_t)one < (uintptr_t)other ? other : one);
}

static void give_both(struct gyre_dispatch *one, struct gyre_dispatch *other)
{
    give_device(one);
    give_device(other);
}

gyre_peer_way gyre_dispatch_peer_way(struct gyre_dispatch *source, struct gyre_dispatch *target)
{
    const gyre_peer_ops *ops = peer_ops(source, target);
    if (!ops)
        return GYRE_PEER_NONE;
    take_both(source, target);
    gyre_error_hold();
    const gyre_peer_way way = ops->way(source->device, target->device);
    gyre_error_let_go();
    give_both(source, target);
    return way == GYRE_PEER_BUS || way == GYRE_PEER_LINK ? way : GYRE_PEER_NONE;
}

gyre_status gyre_dispatch_peer_copy(struct gyre_dispatch *source, struct gyre_dispatch *target,
                                    const gyre_copy_desc *desc)
{
    const gyre_peer_ops *ops = peer_ops(source, target);
    if (!ops)
        return gyre_error_set(GYRE_UNIMPLEMENTED, "backend '%s' does not copy to devices of backend '%s'",
                              source->name, target->name);
    gyre_error_clear();
    take_both(source, target);
    const gyre_status status = ops->copy(source->device, target->device, desc);
    give_both(source, target);
    return settle(source->name, "peer copy", status);
}

gyre_status gyre_dispatch_peer_let_in(struct gyre_dispatch *source, struct gyre_dispatch *target)
{
    const gyre_peer_ops *ops = peer_ops(source, target);
    if (!ops || ops->size < sizeof *ops || !ops->let_in)
        return gyre_error_set(GYRE_UNIMPLEMENTED,
                              "backend '%s' has no links to kernels of another one of its devices",
                              source->name);
    gyre_error_clear();
    take_both(source, target);
    const gyre_status status = ops->let_in(source->device, target->device);
    give_both(source, target);
    return settle(source->name, "let_in", status);
}

uint32_t gyre_dispatch_ordinal(const struct gyre_dispatch *dispatch)
{
    return dispatch->ordinal;
}

/* ---- memories that devices combine ---- */

/* The backend's table, if one plugin has all devices and combines; else NULL. */
static const gyre_peer_ops *combine_ops(struct gyre_dispatch *const *devices, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (devices[i]->ops != devices[0]->ops)
            return NULL;
    const gyre_peer_ops *ops = named_table(devices[0], GYRE_PEERS_NAME, GYRE_PEERS_VERSION);
    return ops && ops->size >= offsetof(gyre_peer_ops, let_in) && ops->combine_prepare && ops->combine ? ops
                                                                                                       : NULL;
}

/* The device with the lowest address behind `last`; NULL: there is none. */
static struct gyre_dispatch *next_device(struct gyre_dispatch *const *devices, uint32_t count,
                                         const struct gyre_dispatch *last)
{
    struct gyre_dispatch *next = NULL;
    for (uint32_t i = 0; i < count; i++)
        if ((uintptr_t)devices[i] > (uintptr_t)last && (!next || (uintptr_t)devices[i] < (uintptr_t)next))
            next = devices[i];
    return next;
}

gyre_status gyre_dispatch_combine(struct gyre_dispatch *const *devices, gyre_combine_desc *desc,
                                  gyre_combine_part *parts, bool prepares)
{
    const gyre_peer_ops *ops = combine_ops(devices, desc->part_count);
    if (!ops)
        return gyre_error_set(GYRE_UNIMPLEMENTED, "backend '%s' does not combine memories of devices",
                              devices[0]->name);
    for (uint32_t i = 0; i < desc->part_count; i++)
        parts[i].device = devices[i]->device;
    desc->size = sizeof *desc;
    desc->parts = parts;
    gyre_error_clear();
    struct gyre_dispatch *device = NULL;
    while ((device = next_device(devices, desc->part_count, device)))
        take_device(device);
    const gyre_status status = prepares ? ops->combine_prepare(desc) : ops->combine(desc);
    while ((device = next_device(devices, desc->part_count, device)))
        give_device(device);
    return settle(devices[0]->name, prepares ? "combine_prepare" : "combine", status);
}
