/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel as a node (a stage) of a pipeline (node.h). Lock: kernel->lock for kernel->node, and for commands to the device.
 */
#include "core/kernel/node.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/control.h"
#include "core/kernel/queue_table.h"
#include "core/plan/shape.h"
#include "core/queue/label.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"

#define LOOK_NS UINT64_C(5000000) /* between two looks whether a worker process still lives */

struct gyre_node_facts gyre_node_facts_of(const gyre_kernel *kernel)
{
    const uint32_t links = gyre_dispatch_device_info(kernel->dispatch)->knows_links;
    const bool in_host = links & GYRE_LINKING_HOST, in_worker = gyre_dispatch_isolated(kernel->dispatch);
    return (struct gyre_node_facts){.name = kernel->name,
                                    .record = kernel->record,
                                    .device = kernel->dispatch,
                                    .blocks = kernel->blocks,
                                    .movers = in_host ? 1 : kernel->blocks,
                                    .by_threads = links & GYRE_LINKING_SHARED,
                                    .in_host = in_host,
                                    .is_shared = !in_worker && links & GYRE_LINKING_SHARED,
                                    .in_worker = in_worker,
                                    .control_here = kernel->control,
                                    .control = (uint64_t)(uintptr_t)kernel->control};
}

/* Under the lock: whether the kernel runs in the worker process that `facts` are of. */
static bool is_there(const gyre_kernel *kernel, const struct gyre_node_facts *facts)
{
    return !facts->in_worker || facts->generation == kernel->generation;
}

bool gyre_node_find(gyre_kernel *kernel, struct gyre_node_facts *facts)
{
    if (!facts->in_worker)
        return false;
    pthread_mutex_lock(&kernel->lock);
    const bool moved = !is_there(kernel, facts) || !facts->control;
    const bool runs = kernel->resident && !kernel->turn.starting;
    facts->generation = kernel->generation;
    facts->control =
        runs ? gyre_dispatch_control_address(kernel->dispatch, kernel->resident, kernel->control) : 0;
    pthread_mutex_unlock(&kernel->lock);
    return moved;
}

gyre_status gyre_node_check_free(const gyre_kernel *kernel, const char *call)
{
    if (!kernel->node.pipeline)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID, "%s: kernel '%s' is a stage of pipeline '%s': close that first (gyre_pipeline_close)",
        call, kernel->name, kernel->node.pipeline_name);
}

/* What a kernel cannot be a stage with. Under the lock. */
static gyre_status check_able(const gyre_kernel *kernel)
{
    const char *const backend = gyre_dispatch_backend(kernel->dispatch);
    const gyre_kernel_state state = gyre_kernel_get_state(kernel);
    if (gyre_dispatch_device_info(kernel->dispatch)->knows_links == 0)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' runs on backend '%s', which does not link kernels: run all kernels of the "
            "pipeline on backend 'cpu', or on another one that does",
            kernel->name, backend);
    if (kernel->record->form == GYRE_FORM_KEYED &&
        (kernel->record->is_island ||
         !(gyre_dispatch_device_info(kernel->dispatch)->knows_links & GYRE_LINKING_KEYS)))
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' is a keyed actor that was compiled without links: if backend '%s' links keyed actors, launch "
            "it with gyre_launch_desc.stage = GYRE_STAGE_LINKED; else send to its queues, or run the kernels of the pipeline on backend 'cpu'",
            kernel->name, backend);
    if (kernel->record->is_island)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' was compiled without links, because it has no ports and nothing said that it is a stage: launch "
            "it with gyre_launch_desc.stage = GYRE_STAGE_LINKED, or name it in a section [link.NAME], [topic.NAME] or [pool.NAME]",
            kernel->name);
    if (gyre_dispatch_isolated(kernel->dispatch) &&
        !(gyre_dispatch_device_info(kernel->dispatch)->knows_links & GYRE_LINKING_WORKER))
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' runs in a worker process of backend '%s', whose kernels are not linked there: leave "
            "isolation = process out, of [backend.%s] or of the pipeline's section, or run the kernels of the pipeline on backend 'cpu'",
            kernel->name, backend, backend);
    if (kernel->turn.changing)
        return gyre_error_set(GYRE_AGAIN, "kernel '%s' is being swapped or moved: try again", kernel->name);
    if (kernel->node.ended)
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' is being released", kernel->name);
    if (state != GYRE_KERNEL_ACTIVE && state != GYRE_KERNEL_INACTIVE)
        return gyre_error_set(state == GYRE_KERNEL_LOST ? GYRE_LOST : GYRE_CLOSED,
                              "kernel '%s' is %s; launch it again", kernel->name,
                              gyre_kernel_state_word(state));
    return GYRE_OK;
}

gyre_status gyre_node_check_need(const struct gyre_node_facts *facts, const struct gyre_node_need *need)
{
    if (!(gyre_dispatch_device_info(facts->device)->knows_links & need->linking))
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "%skernel '%s' runs on backend '%s', which %s: run the kernel on backend 'cpu', "
            "or on another one that has that",
            need->before, facts->name, gyre_dispatch_backend(facts->device), need->device_lacks);
    if (need->is_left_out)
        return gyre_error_set(
            GYRE_INVALID,
            "%skernel '%s' was compiled without %s: launch it with gyre_launch_desc.stage = "
            "GYRE_STAGE_COUNTED + %s (and what else it needs), or %s",
            need->before, facts->name, need->build_lacks, need->stage, need->instead);
    return GYRE_OK;
}

gyre_status gyre_node_join(gyre_kernel *kernel, struct gyre_runtime_guest *pipeline, const char *name)
{
    pthread_mutex_lock(&kernel->lock);
    gyre_status status = check_able(kernel);
    if (status == GYRE_OK && kernel->node.pipeline)
        status = gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' is a stage of pipeline '%s' already, and a kernel is in one pipeline: "
            "launch its file under another name",
            kernel->name, kernel->node.pipeline_name);
    if (status == GYRE_OK)
        kernel->node = (struct gyre_kernel_node){.pipeline = pipeline, .pipeline_name = name, .making = true};
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

void gyre_node_made(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    kernel->node.making = false;
    pthread_cond_broadcast(&kernel->changed); /* for gyre_node_end */
    pthread_mutex_unlock(&kernel->lock);
}

void gyre_node_hold(gyre_kernel *kernel)
{
    __atomic_fetch_add(&kernel->visitors, 1, __ATOMIC_RELAXED);
}

void gyre_node_listed(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    pthread_cond_broadcast(&kernel->changed); /* for gyre_node_end */
    pthread_mutex_unlock(&kernel->lock);
}

static void leave(gyre_kernel *kernel, bool stays)
{
    pthread_mutex_lock(&kernel->lock);
    kernel->node.pipeline = NULL;
    kernel->node.making = kernel->node.saved_together = kernel->node.in_journal = kernel->node.behind = false;
    kernel->node.stays |= stays;
    pthread_cond_broadcast(&kernel->changed); /* for gyre_node_end */
    pthread_mutex_unlock(&kernel->lock);
}

void gyre_node_leave(gyre_kernel *kernel)
{
    leave(kernel, false);
}

void gyre_node_leave_used(gyre_kernel *kernel)
{
    leave(kernel, true);
}

/*
 * The pipeline is not freed while a kernel is its node, and a node leaves under its lock. So the lock is held while this thread
 * becomes the one that ends the pipeline; while another thread closes it, this one waits: until the kernel has left, or until
 * that close failed and the pipeline is listed again.
 */
void gyre_node_end(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    kernel->node.ended = true;
    while (kernel->node.pipeline) {
        struct gyre_runtime_guest *pipeline = kernel->node.pipeline;
        if (kernel->node.making || !gyre_runtime_remove_guest(kernel->runtime, pipeline)) {
            pthread_cond_wait(&kernel->changed, &kernel->lock);
            continue;
        }
        pthread_mutex_unlock(&kernel->lock);
        pipeline->end(pipeline);
        pthread_mutex_lock(&kernel->lock);
    }
    pthread_mutex_unlock(&kernel->lock);
}

/* Under the lock. Returns the command. */
static uint64_t repeat_order(gyre_kernel *kernel)
{
    gyre_control_order(kernel, gyre_control_verb(kernel));
    return gyre_control_last(kernel);
}

/* Under the lock. Pairs with the workers' acquire. */
static void name_table(const gyre_kernel *kernel, uint64_t table)
{
    __atomic_store_n(&kernel->control->command.links, table, __ATOMIC_RELEASE);
}

uint64_t gyre_node_wire(gyre_kernel *kernel, const struct gyre_node_facts *facts, uint64_t table)
{
    uint64_t command = 0;
    pthread_mutex_lock(&kernel->lock);
    if (table == 0 || (is_there(kernel, facts) && facts->control)) {
        name_table(kernel, table);
        command = repeat_order(kernel);
    }
    pthread_mutex_unlock(&kernel->lock);
    return command;
}

/* A block that sees a queue sees the table, which is stored before the queue's address. */
bool gyre_node_wire_again(gyre_kernel *kernel, const struct gyre_node_facts *facts, uint64_t table)
{
    pthread_mutex_lock(&kernel->lock);
    const bool there =
        is_there(kernel, facts) && facts->control && kernel->resident && !kernel->turn.starting;
    if (there) {
        name_table(kernel, table);
        kernel->node.unwired = false;
        for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
            if (gyre_view_of(queue)->of_pipeline && !gyre_view_of(queue)->closed)
                gyre_kernel_show_queue(kernel, queue);
        repeat_order(kernel);
    }
    pthread_mutex_unlock(&kernel->lock);
    return there;
}

const void *gyre_node_pipeline(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    const void *pipeline = kernel->node.pipeline;
    pthread_mutex_unlock(&kernel->lock);
    return pipeline;
}

bool gyre_node_was_at(const gyre_kernel *kernel, uint32_t number, uint64_t index)
{
    const gyre_control_block *blocks = gyre_control_blocks(kernel);
    for (uint32_t i = 0; i < kernel->blocks; i++) {
        const uint64_t working = __atomic_load_n(&blocks[i].working, __ATOMIC_RELAXED);
        if (GYRE_WORKING_TABLE(working) == (uint64_t)number + 1 && (uint32_t)working == (uint32_t)index)
            return true;
    }
    return false;
}

bool gyre_node_begins_anew(gyre_kernel *kernel)
{
    return gyre_node_pipeline(kernel) && gyre_record_keeps_something(kernel->record) &&
           !kernel->checkpoints && gyre_kernel_setting(kernel, "on_loss") != 0;
}

void gyre_node_tell_anew(const gyre_kernel *kernel)
{
    gyre_runtime_log(
        kernel->runtime, GYRE_LOG_WARNING,
        "kernel '%s' begins anew: its worker process died, and what its handler keeps between messages "
        "with it (on_loss); requests without a completion are handled again",
        kernel->name);
}

bool gyre_node_awaits_wires(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    const bool waits = kernel->node.unwired && kernel->resident && !kernel->turn.starting;
    pthread_mutex_unlock(&kernel->lock);
    return waits;
}

/* NULL: it is in none that is listed, or leaves. Under both locks: the pipeline is not freed while a kernel is its node. */
static struct gyre_runtime_guest *hold_pipeline(gyre_kernel *kernel)
{
    gyre_runtime *runtime = kernel->runtime;
    pthread_mutex_lock(&kernel->lock);
    pthread_mutex_lock(&runtime->lock);
    struct gyre_runtime_guest *const pipeline = kernel->node.pipeline, *guest = runtime->guests;
    while (guest && guest != pipeline)
        guest = guest->next;
    if (!guest && pipeline && pipeline->leaves)
        guest = pipeline;
    if (guest)
        guest->hold(guest);
    pthread_mutex_unlock(&runtime->lock);
    pthread_mutex_unlock(&kernel->lock);
    return guest;
}

gyre_status gyre_node_revive_pipeline(gyre_kernel *kernel, bool by_keeper)
{
    struct gyre_runtime_guest *guest = hold_pipeline(kernel);
    return guest ? guest->revive(guest, kernel->dispatch, by_keeper) : GYRE_OK;
}

gyre_status gyre_node_save_pipeline(gyre_kernel *kernel, uint64_t deadline_ns)
{
    struct gyre_runtime_guest *guest = hold_pipeline(kernel);
    return guest ? guest->save(guest, deadline_ns)
                 : gyre_error_set(GYRE_AGAIN, "the pipeline of kernel '%s' is being opened or closed",
                                  kernel->name);
}

uint64_t gyre_node_tell(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    const uint64_t command = repeat_order(kernel);
    pthread_mutex_unlock(&kernel->lock);
    return command;
}

/*
 * Under the lock: whether the kernel's worker process is gone, and its blocks with it. Those of the next worker know no links before
 * gyre_node_wire_again.
 */
static bool has_no_blocks(const gyre_kernel *kernel)
{
    return gyre_dispatch_isolated(kernel->dispatch) &&
           !(kernel->resident && gyre_dispatch_is_current(kernel->dispatch, kernel->resident));
}

bool gyre_node_obeyed(gyre_kernel *kernel, uint64_t command)
{
    pthread_mutex_lock(&kernel->lock);
    const bool obeyed = has_no_blocks(kernel) || gyre_control_obeyed(kernel, command);
    pthread_mutex_unlock(&kernel->lock);
    return obeyed;
}

/* Under the lock, given up meanwhile. In short looks, since blocks in a worker process may go with it, and never obey. */
static gyre_status await_worker(gyre_kernel *kernel)
{
    const uint64_t since_ns = gyre_clock_ns(), limit_ns = gyre_control_limits_of(kernel).handler_ns;
    const uint64_t generation = kernel->generation, command = gyre_control_last(kernel);
    gyre_status status = GYRE_TIMEOUT;
    while (status == GYRE_TIMEOUT) {
        const uint64_t now = gyre_clock_ns();
        if (has_no_blocks(kernel) || kernel->generation != generation || gyre_control_obeyed(kernel, command))
            return GYRE_OK;
        if (now >= limit_ns)
            return gyre_control_tell_timeout(kernel, command, since_ns);
        status = gyre_control_acknowledged(kernel, GYRE_YIELD_TO_NOTHING,
                                           limit_ns - now > LOOK_NS ? now + LOOK_NS : limit_ns);
    }
    if (status == GYRE_LOST && (has_no_blocks(kernel) || kernel->generation != generation))
        return GYRE_OK; /* meanwhile */
    return status;
}

gyre_status gyre_node_await(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    const gyre_status status = gyre_dispatch_isolated(kernel->dispatch)
                                   ? await_worker(kernel)
                                   : gyre_control_came_back(kernel, GYRE_YIELD_TO_NOTHING);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

gyre_status gyre_node_open_entry(gyre_kernel *kernel, const struct gyre_kernel_face *face,
                                 const gyre_queue_desc *desc, const char *section,
                                 struct gyre_queue_options *lent, gyre_queue **out)
{
    return gyre_kernel_add_entry(kernel, face, desc, section, lent, out);
}

void gyre_node_show_entry(gyre_queue *queue)
{
    gyre_kernel *kernel = gyre_view_of(queue)->kernel;
    pthread_mutex_lock(&kernel->lock);
    gyre_view_for(queue)->unfindable = false;
    pthread_mutex_unlock(&kernel->lock);
}

void gyre_node_number_entry(gyre_queue *queue, uint32_t number)
{
    gyre_view_for(queue)->entry_number = number;
}

static bool knows_shared(const gyre_kernel *kernel)
{
    return gyre_dispatch_device_info(kernel->dispatch)->knows_links & GYRE_LINKING_SHARED;
}

void gyre_node_describe_entry(const gyre_queue *queue, gyre_link_entry *entry)
{
    const struct gyre_queue_view *view = gyre_view_of(queue);
    struct gyre_dispatch *const device = view->kernel->dispatch;
    entry->region = gyre_dispatch_isolated(device) ? gyre_dispatch_queue_address(device, view->device_memory)
                    : knows_shared(view->kernel)   ? (uint64_t)(uintptr_t)gyre_ring_of(queue)->shared
                                                   : view->device_address;
    entry->queue = view->table_entry;
    entry->serial = view->table_serial;
    entry->slots = gyre_ring_of(queue)->slots;
}

void gyre_node_hide_entry(gyre_queue *queue)
{
    gyre_kernel *kernel = gyre_view_of(queue)->kernel;
    pthread_mutex_lock(&kernel->lock);
    gyre_view_for(queue)->withdrawn = true;
    __atomic_store_n(&kernel->control->queues[gyre_view_of(queue)->table_entry].address, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&kernel->lock);
}

void gyre_node_abandon_entry(gyre_queue *queue)
{
    gyre_kernel_leave_queue(queue);
}

void gyre_node_close_entry(gyre_queue *queue)
{
    gyre_kernel_close_queue(queue); /* it is known as one of a pipeline until it is off the kernel's list */
}
