/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares checkpoints of a kernel: their memory, the logs of the kernel's queues, and the first checkpoint. checkpoint_take.c
 * takes the later checkpoints. Locks and flags: checkpoint.h.
 */
#include "core/durability/checkpoint_life.h"

#include "core/device/buffer.h"
#include "core/dispatch/dispatch.h"
#include "core/durability/replay.h"
#include "core/durability/snapshot.h"
#include "core/kernel/keyed.h"
#include "core/kernel/kernel_queue.h"
#include "core/kernel/queue_home.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/durability/durable.h"
#include "core/durability/durable_open.h"
#include "core/durability/witness.h"
#include "core/plan/shape.h"
#include "core/queue/queue.h"
#include "core/ring/region.h"
#include "core/ring/slot.h"
#include "core/stages/expiry.h"
#include "core/stages/log.h"
#include "core/types/buffers.h"

/* ---- making ---- */

static void add_part(struct gyre_checkpoints *checkpoints, gyre_memory *memory, uint64_t size)
{
    checkpoints->parts[checkpoints->part_count++] =
        (struct gyre_checkpoint_part){.memory = memory, .size = size};
}

/* The state, and the buffers that handlers write; from here on nobody holds those in place. `buffers`: room for as many as the list has. */
static gyre_status add_parts(gyre_kernel *kernel, struct gyre_checkpoints *checkpoints,
                             const gyre_buffer_list *list, gyre_buffer **buffers)
{
    const bool all = gyre_kernel_setting(kernel, "checkpoint_buffers");
    uint32_t count = 0;
    if (kernel->memory.state)
        add_part(checkpoints, kernel->memory.state, gyre_kernel_state_size(kernel));
    for (uint32_t i = 0; all && i < list->count; i++) {
        gyre_buffer *const buffer = kernel->memory.buffers[i];
        if (!list->slots[i].writable)
            continue;
        add_part(checkpoints, buffer->memory, buffer->size);
        buffers[count++] = buffer;
    }
    return gyre_buffers_enter_checkpoints(buffers, count);
}

static gyre_status find_parts(gyre_kernel *kernel, struct gyre_checkpoints *checkpoints)
{
    gyre_buffer_list list = {0};
    gyre_status status = gyre_buffer_list_init(&list, kernel->record->buffers, kernel->record->buffer_types);
    gyre_buffer **const buffers = calloc((size_t)list.count + 1, sizeof(gyre_buffer *));
    checkpoints->parts = calloc((size_t)list.count + 1, sizeof *checkpoints->parts);
    if (status == GYRE_OK && (!checkpoints->parts || !buffers))
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for checkpoints");
    if (status == GYRE_OK)
        status = add_parts(kernel, checkpoints, &list, buffers);
    free(buffers);
    gyre_buffer_list_finish(&list);
    return status;
}

static uint64_t size_of_parts(const struct gyre_checkpoints *checkpoints)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < checkpoints->part_count; i++)
        size += checkpoints->parts[i].size;
    return size;
}

static gyre_status make_replay_queue(gyre_kernel *kernel, struct gyre_checkpoints *checkpoints)
{
    enum { BYTES = 1 << 20 };
    uint64_t stride = gyre_slot_stride((uint32_t)kernel->record->request->size);
    gyre_queue_desc desc = {
        .size = sizeof desc, .name = kernel->name, .capacity = 1, .policy = GYRE_FULL_REJECT};
    while (desc.capacity < REPLAY_SLOTS_MAX && desc.capacity * 2 * stride <= BYTES)
        desc.capacity *= 2;
    checkpoints->request = malloc(kernel->record->request->size + 1);
    if (!checkpoints->request)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for checkpoints");
    gyre_status status = gyre_kernel_make_queue(kernel, &desc, kernel->name, &checkpoints->replay);
    if (status == GYRE_OK)
        gyre_expiry_set(checkpoints->replay,
                        0); /* a request that was handled in time must not expire in the replay */
    return status;
}

static void read_settings(const gyre_kernel *kernel, struct gyre_checkpoints *checkpoints)
{
    uint64_t ns = gyre_config_ns(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "checkpoint_ms");
    uint64_t messages = (uint64_t)gyre_kernel_setting(kernel, "checkpoint_messages");
    checkpoints->every_ns = ns ? ns : UINT64_MAX;
    checkpoints->every_messages = messages ? messages : UINT64_MAX;
}

void gyre_checkpoints_judge(const gyre_kernel *kernel)
{
    const gyre_queue *queue = kernel->queues.main;
    bool isolated = gyre_dispatch_isolated(kernel->dispatch);
    if (!gyre_kernel_setting(kernel, "checkpoints"))
        return;
    if (!kernel->checkpoints)
        gyre_runtime_log(kernel->runtime, GYRE_LOG_INFO,
                         "kernel '%s' has checkpoints = true, and nothing is kept: its handler keeps nothing",
                         kernel->name);
    else if (!isolated && !(queue && gyre_view_of(queue)->durable) &&
             gyre_config_may_put_back(kernel->runtime->config))
        gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING,
                         "checkpoints = true of kernel '%s' has no effect: nothing puts them back without "
                         "backend.%s.isolation = process, or queue.%s.durability = journal",
                         kernel->name, gyre_dispatch_backend(kernel->dispatch), kernel->name);
    else if (!isolated && queue && gyre_view_of(queue)->durable)
        gyre_runtime_log(
            kernel->runtime, GYRE_LOG_INFO,
            "checkpoints of kernel '%s' are put back when the program starts again, and not when a "
            "handler crashes, which takes the program with it (backend.%s.isolation = none)",
            kernel->name, gyre_dispatch_backend(kernel->dispatch));
}

gyre_status gyre_checkpoints_create(gyre_kernel *kernel)
{
    if (!gyre_kernel_setting(kernel, "checkpoints") || !gyre_record_keeps_something(kernel->record))
        return GYRE_OK;
    struct gyre_checkpoints *checkpoints = calloc(1, sizeof *checkpoints);
    if (!checkpoints)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for checkpoints");
    checkpoints->store.region = GYRE_REGION_NONE;
    pthread_mutex_init(&checkpoints->taking, NULL);
    kernel->checkpoints = checkpoints; /* after a failure, freed with the kernel */
    gyre_witness_prepare(kernel);
    read_settings(kernel, checkpoints);
    gyre_status status = find_parts(kernel, checkpoints);
    if (status == GYRE_OK && checkpoints->part_count)
        status = gyre_store_create(size_of_parts(checkpoints), &checkpoints->store);
    if (status == GYRE_OK)
        gyre_snapshot_prepare(kernel);
    return status == GYRE_OK ? make_replay_queue(kernel, checkpoints) : status;
}

void gyre_checkpoints_destroy(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (!checkpoints)
        return;
    if (checkpoints->replay)
        gyre_kernel_free_queue(kernel, checkpoints->replay);
    gyre_snapshot_release(kernel);
    gyre_store_destroy(&checkpoints->store);
    pthread_mutex_destroy(&checkpoints->taking);
    free(checkpoints->parts);
    free(checkpoints->request);
    gyre_layout_destroy(checkpoints->reply);
    free(checkpoints);
    kernel->checkpoints = NULL;
}

/* ---- queues ---- */

/* An error when the kernel cannot have this queue besides its others. */
static gyre_status check_company(const gyre_kernel *kernel, const gyre_queue *queue)
{
    const gyre_queue *replay = kernel->checkpoints->replay;
    bool alone = kernel->record->form == GYRE_FORM_ACTOR || gyre_kernel_is_keyed(kernel) ||
                 (gyre_kernel_first_queue(kernel) && gyre_view_of(gyre_kernel_first_queue(kernel))->durable &&
                  !gyre_view_of(gyre_kernel_first_queue(kernel))->of_pipeline);
    if (alone && gyre_kernel_first_queue(kernel))
        return gyre_error_set(GYRE_INVALID,
                              "kernel '%s' is an actor with checkpoints, "
                              "or has a queue with a journal, and has one queue: "
                              "in which order it took requests from several could not be repeated",
                              kernel->name);
    if (gyre_ring_of(queue)->slots.header_size != gyre_ring_of(replay)->slots.header_size)
        return gyre_error_set(
            GYRE_INVALID,
            "queue '%s' of kernel '%s' has headers of %u bytes, and with checkpoints all its "
            "queues have headers of one size, which is %u",
            gyre_queue_name(queue), kernel->name, gyre_ring_of(queue)->slots.header_size,
            gyre_ring_of(replay)->slots.header_size);
    return GYRE_OK;
}

static gyre_status make_log(const gyre_kernel *kernel, gyre_queue *queue, const struct gyre_durable *durable)
{
    uint64_t bytes = kernel->checkpoints ? (uint64_t)gyre_kernel_setting(kernel, "replay_log") : 0;
    uint64_t least = durable ? gyre_queue_log_bytes(queue, gyre_durable_log_count(durable)) : 0;
    gyre_status status = gyre_queue_log_create(queue, kernel->checkpoints && bytes < least ? least : bytes);
    if (status == GYRE_INVALID) /* the log has no room for a single request */
        return gyre_config_blame(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "replay_log",
                                 GYRE_CONFIG);
    if (status != GYRE_OK || !kernel->checkpoints)
        return status;
    gyre_log_of(queue)->ask = gyre_checkpoints_ring;
    gyre_log_of(queue)->ask_context = kernel->checkpoints;
    gyre_queue_log_restart(queue, kernel->checkpoints->every_messages);
    return GYRE_OK;
}

gyre_status gyre_checkpoints_equip(gyre_kernel *kernel, gyre_queue *queue, struct gyre_durable *durable)
{
    gyre_status status = GYRE_OK;
    gyre_view_for(queue)->durable = durable;
    if (gyre_view_of(queue)->of_pipeline)
        return GYRE_OK; /* the kernel that leads its pipeline sees to it (lead.h) */
    if (kernel->checkpoints)
        status = check_company(kernel, queue);
    if (status == GYRE_OK && (kernel->checkpoints || durable))
        status = make_log(kernel, queue, durable);
    if (status == GYRE_OK && durable)
        status = gyre_durable_attach(durable, queue);
    return status;
}

void gyre_checkpoints_rewind(gyre_kernel *kernel, gyre_queue *queue)
{
    if (gyre_view_of(queue)->of_pipeline && gyre_log_of(queue))
        gyre_queue_log_restart(queue, UINT64_MAX);
    else if (kernel->checkpoints &&
             !gyre_view_of(queue)->of_pipeline) /* not with a journal alone, whose log goes on */
        gyre_queue_log_restart(queue, kernel->checkpoints->every_messages);
}

/* ---- another body ---- */

/* Finds the parts of the present body, and makes a store for them unless the present one has that size. */
static gyre_status renew_parts(gyre_kernel *kernel, struct gyre_checkpoints *checkpoints)
{
    struct gyre_store store = {.region = GYRE_REGION_NONE};
    gyre_snapshot_release(kernel);
    free(checkpoints->parts);
    checkpoints->parts = NULL;
    checkpoints->part_count = 0;
    gyre_status status = find_parts(kernel, checkpoints);
    if (status != GYRE_OK || size_of_parts(checkpoints) == checkpoints->store.size)
        return status;
    status = gyre_store_create(size_of_parts(checkpoints), &store);
    if (status != GYRE_OK)
        return status;
    gyre_store_destroy(&checkpoints->store);
    checkpoints->store = store;
    return GYRE_OK;
}

gyre_status gyre_checkpoints_adapt(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (!checkpoints)
        return GYRE_OK;
    gyre_status status = renew_parts(kernel, checkpoints);
    if (status == GYRE_OK)
        status = gyre_snapshot_read(kernel);
    if (status == GYRE_OK)
        status = gyre_queue_take_home(kernel, checkpoints->replay);
    if (status != GYRE_OK)
        return gyre_error_add(status, "while the checkpoints of kernel '%s' were taken over", kernel->name);
    if (checkpoints->part_count) {
        gyre_store_seal(&checkpoints->store);
        gyre_store_commit(&checkpoints->store);
    }
    gyre_snapshot_prepare(kernel);
    return GYRE_OK;
}

/* ---- the first one ---- */

/* Waits for a checkpoint of an earlier run that is on its way into the store. No new one begins, since no device runs. */
static void await_writer(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    while (kernel->checkpoints->writing)
        pthread_cond_wait(&kernel->changed, &kernel->lock);
    pthread_mutex_unlock(&kernel->lock);
}

gyre_status gyre_checkpoints_begin(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (!checkpoints || !checkpoints->part_count)
        return GYRE_OK;
    const unsigned char *earlier = gyre_durable_state(kernel);
    gyre_status status = earlier ? gyre_keyed_check_saved(kernel, earlier) : GYRE_OK;
    if (status != GYRE_OK)
        return status;
    checkpoints->restored = earlier != NULL;
    await_writer(kernel);
    gyre_store_clear(&checkpoints->store);
    if (earlier) {
        memcpy(gyre_store_next(&checkpoints->store), earlier, checkpoints->store.size);
        gyre_keyed_shift(kernel, gyre_store_next(&checkpoints->store));
    } else
        status = gyre_snapshot_read(kernel);
    if (status != GYRE_OK)
        return gyre_error_add(status, "while the first checkpoint of kernel '%s' was taken", kernel->name);
    gyre_store_seal(&checkpoints->store);
    gyre_store_commit(&checkpoints->store);
    return earlier ? gyre_replay_restore(kernel) : GYRE_OK;
}
