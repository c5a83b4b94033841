/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares the move of a kernel to another device: builds its file there, and makes room for what it keeps (change.c carries it
 * out). Whatever would differ for those who wait at the kernel's queues is refused here, while nothing has been touched.
 *
 * Locks: kernel->changer; runtime->lock for how buffers are used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/lines.h"
#include "core/base/probe.h"
#include "core/device/buffer.h"
#include "core/device/devices.h"
#include "core/change/carried_over.h"
#include "core/change/change.h"
#include "core/kernel/kernel_build.h"
#include "core/pipeline/build.h"
#include "core/types/types.h"

/* ---- the file, on the other device ---- */

/* The source of what works, as a launch would name it. A file that `gyre compile` made is of one backend. */
static gyre_status find_source(const gyre_kernel *kernel, char *source, size_t size)
{
    const struct gyre_build_report *report = gyre_build_report(kernel->build);
    if (gyre_build_is_compiled(kernel->build))
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' was launched from '%s', which was compiled for one backend: launch its source "
            "(FILE.gyre.c), which other devices can compile",
            kernel->name, report->file);
    snprintf(source, size, "%s:%s", report->file, kernel->record->name);
    return GYRE_OK;
}

static gyre_status build_there(const gyre_kernel *kernel, gyre_kernel *successor)
{
    char source[PATH_MAX + GYRE_NAME_MAX + 2];
    gyre_status status = find_source(kernel, source, sizeof source);
    if (status != GYRE_OK)
        return status;
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .name = kernel->name,
                                   .source = source,
                                   .stage = gyre_kernel_stage_of(kernel->record)};
    status = gyre_kernel_build(successor, &desc);
    if (status != GYRE_OK)
        return gyre_error_add(status, "kernel '%s' for backend '%s'", kernel->name,
                              gyre_dispatch_backend(successor->dispatch));
    if (gyre_build_handler(successor->build) == gyre_build_handler(kernel->build))
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "'%s' is not what kernel '%s' was launched from any more, and a move changes no handler: swap it first",
        gyre_build_report(kernel->build)->file, kernel->name);
}

/* ---- what has to be alike ---- */

static gyre_status refuse_device(const gyre_kernel *kernel, const struct gyre_dispatch *there,
                                 const char *what)
{
    return gyre_error_set(
        GYRE_UNIMPLEMENTED,
        "kernel '%s' cannot move from '%s' to '%s' while it is used: %s; end it and launch it there",
        kernel->name, gyre_dispatch_backend(kernel->dispatch), gyre_dispatch_backend(there), what);
}

/* Threads and programs wait at queues in the way that suits the kernel's first device. */
static gyre_status check_device(const gyre_kernel *kernel, struct gyre_dispatch *there)
{
    const gyre_device_info *from = gyre_dispatch_device_info(kernel->dispatch),
                           *to = gyre_dispatch_device_info(there);
    if (there == kernel->dispatch)
        return gyre_error_set(GYRE_INVALID, "kernel '%s' is on that device of backend '%s' already",
                              kernel->name, gyre_dispatch_backend(there));
    if (gyre_dispatch_isolated(kernel->dispatch) != gyre_dispatch_isolated(there))
        return refuse_device(
            kernel, there,
            "only one of them runs in a worker process (isolation), and its queues are guarded "
            "accordingly");
    if (!kernel->polled && from->can_wake && !to->can_wake)
        return refuse_device(
            kernel, there,
            "its clients sleep until the device wakes them, which that device cannot (bells = "
            "false of the kernel's section has them look by themselves)");
    if (to->knows_foreign != 1 && from->knows_foreign == 1)
        return refuse_device(kernel, there, "that device does not take messages of other programs");
    if (kernel->lanes > to->lanes_max || kernel->blocks > to->blocks_max)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' has %u blocks of %u lanes, which stay in a move, and '%s' allows %u of %u: launch it "
            "with fewer",
            kernel->name, kernel->blocks, kernel->lanes, to->name, to->blocks_max, to->lanes_max);
    return GYRE_OK;
}

/* ---- what moves ---- */

static int compare_buffers(const void *a, const void *b)
{
    const struct gyre_moved_buffer *one = a, *other = b;
    return one->buffer < other->buffer ? -1 : one->buffer > other->buffer;
}

static gyre_status check_buffer(const gyre_kernel *kernel, const struct gyre_buffer *buffer)
{
    if (buffer->bound > 1)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' cannot move: a buffer of it is bound to another kernel as well, which "
            "stays",
            kernel->name);
    if (buffer->last_handle)
        return gyre_error_set(
            GYRE_INVALID, "kernel '%s' cannot move: messages name a buffer of it, by a name of its device",
            kernel->name);
    if (buffer->held)
        return gyre_error_set(GYRE_INVALID,
                              "kernel '%s' cannot move: the program holds a buffer of it in place "
                              "(gyre_buffer_hold)",
                              kernel->name);
    return GYRE_OK;
}

static bool is_listed(const struct gyre_kernel_change *change, const struct gyre_buffer *buffer)
{
    for (uint32_t i = 0; i < change->buffer_count; i++)
        if (change->buffers[i].buffer == buffer)
            return true;
    return false;
}

static gyre_status list_buffers(struct gyre_kernel_change *change)
{
    const gyre_kernel *kernel = change->kernel;
    gyre_status status = GYRE_OK;
    change->buffers = calloc((size_t)kernel->memory.buffer_count + 1, sizeof *change->buffers);
    if (!change->buffers)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to move %u buffers", kernel->memory.buffer_count);
    pthread_mutex_lock(&kernel->runtime->lock);
    for (uint32_t i = 0; status == GYRE_OK && i < kernel->memory.buffer_count; i++) {
        struct gyre_buffer *buffer = kernel->memory.buffers[i];
        if (is_listed(change, buffer))
            continue;
        status = check_buffer(kernel, buffer);
        if (status == GYRE_OK)
            change->buffers[change->buffer_count++].buffer = buffer;
    }
    pthread_mutex_unlock(&kernel->runtime->lock);
    /* in the order in which they are locked */
    qsort(change->buffers, change->buffer_count, sizeof *change->buffers, compare_buffers);
    return status;
}

/* Room for the state and the buffers on the other device. */
static gyre_status make_room(struct gyre_kernel_change *change)
{
    const gyre_kernel *kernel = change->kernel;
    struct gyre_dispatch *there = change->other.dispatch;
    gyre_status status = GYRE_OK;
    if (kernel->memory.state)
        status = gyre_dispatch_memory_alloc(there, gyre_lines_size(kernel->memory.state_size),
                                            &change->other.memory.state);
    change->buffer_device = there;
    for (uint32_t i = 0; status == GYRE_OK && i < change->buffer_count; i++)
        status =
            gyre_dispatch_memory_alloc(there, change->buffers[i].buffer->size, &change->buffers[i].memory);
    return status;
}

/* ---- the move ---- */

static gyre_status prepare(struct gyre_kernel_change *change, gyre_kernel *successor)
{
    gyre_kernel *kernel = change->kernel;
    gyre_status status = check_device(kernel, successor->dispatch);
    if (status == GYRE_OK) {
        pthread_mutex_lock(&kernel->lock);
        status = gyre_queue_homes_check(kernel);
        pthread_mutex_unlock(&kernel->lock);
    }
    if (status == GYRE_OK)
        status = list_buffers(change);
    if (status == GYRE_OK)
        status = build_there(kernel, successor);
    if (status != GYRE_OK)
        return status;
    gyre_change_adopt(change, successor);
    status = make_room(change);
    if (status == GYRE_OK)
        gyre_carried_over_prepare(change);
    return status;
}

static void tell(const struct gyre_kernel_change *change, const char *from)
{
    const gyre_kernel *kernel = change->kernel;
    GYRE_PROBE3(moved, kernel->name, from, gyre_dispatch_backend(kernel->dispatch));
    gyre_runtime_log(kernel->runtime, GYRE_LOG_INFO,
                     "kernel '%s' moved from '%s' to '%s': it stood for %llu us", kernel->name, from,
                     gyre_dispatch_backend(kernel->dispatch),
                     (unsigned long long)((gyre_clock_ns() - change->stood_ns) / 1000));
}

static gyre_status move(gyre_kernel *kernel, struct gyre_dispatch *there, uint64_t deadline_ns)
{
    const char *from = gyre_dispatch_backend(kernel->dispatch);
    struct gyre_kernel_change change = {
        .kernel = kernel, .moves = true, .other = {.dispatch = there, .memory = kernel->memory}};
    change.other.memory.state = NULL;
    gyre_kernel *successor = gyre_kernel_create(kernel->runtime);
    if (!successor)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to move kernel '%s'", kernel->name);
    memcpy(successor->name, kernel->name, sizeof kernel->name);
    successor->dispatch = there;
    gyre_status status = prepare(&change, successor);
    if (status == GYRE_OK)
        status = gyre_change_run(&change, deadline_ns);
    if (status == GYRE_OK)
        tell(&change, from);
    gyre_change_finish(&change);
    gyre_error_hold(); /* a release clears it */
    gyre_kernel_release(successor);
    gyre_error_let_go();
    return status;
}

gyre_status gyre_change_move(gyre_kernel *kernel, const char *backend, uint32_t device, uint64_t deadline_ns)
{
    struct gyre_dispatch *there = NULL;
    pthread_mutex_lock(&kernel->changer);
    gyre_status status = gyre_change_check(kernel, true);
    if (status == GYRE_OK)
        status = gyre_runtime_device(kernel->runtime, backend, device, &there);
    if (status == GYRE_OK)
        status = move(kernel, there, deadline_ns);
    pthread_mutex_unlock(&kernel->changer);
    return status;
}
