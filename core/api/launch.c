/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches a kernel: makes a resident kernel from a descriptor. The order is: find the device, build, choose the shape (blocks
 * and lanes), bind buffers and make the state (binding.c), open the main queue (kernel_queue.c), start (start.c).
 * gyre_kernel_release undoes every step that was done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/tools.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/durability/durability.h"
#include "core/kernel/binding.h"
#include "core/kernel/busy.h"
#include "core/kernel/control.h"
#include "core/kernel/help.h"
#include "core/kernel/kernel_build.h"
#include "core/kernel/kernel_queue.h"
#include "core/kernel/list.h"
#include "core/kernel/protocol.h"
#include "core/kernel/sections.h"
#include "core/kernel/shard_key.h"
#include "core/kernel/start.h"
#include "core/kernel/type_registry.h"
#include "core/links/lend.h"
#include "core/plan/shape.h"

static const char *kernel_text(const gyre_kernel *kernel, const char *key)
{
    return gyre_config_text(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, key);
}

/* ---- the shape ---- */

/* The blocks of all kernels on the device. Terminated kernels count as well, because they may be launched again. */
static uint32_t blocks_held(const gyre_kernel *kernel)
{
    uint32_t held = 0;
    pthread_mutex_lock(&kernel->runtime->lock);
    for (const gyre_kernel *other = kernel->runtime->kernels; other; other = other->next)
        held += other->dispatch == kernel->dispatch ? other->blocks : 0;
    pthread_mutex_unlock(&kernel->runtime->lock);
    return held;
}

static gyre_status choose_shape(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    const struct gyre_shape_site site = {.config = kernel->runtime->config,
                                         .device = kernel->dispatch,
                                         .record = kernel->record,
                                         .name = kernel->name,
                                         .held = blocks_held(kernel)};
    kernel->lanes = desc->lanes;
    kernel->blocks = desc->blocks;
    return gyre_shape_choose(&site, &kernel->lanes, &kernel->blocks);
}

/* ---- launching ---- */

static gyre_status open_main_queue(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    gyre_queue_desc queue = {
        .size = sizeof queue, .name = kernel->name, .request = desc->request, .reply = desc->reply};
    return gyre_kernel_add_queue(kernel, &queue,
                                 &kernel->queues.main); /* no other thread has the kernel yet */
}

static gyre_status launch_kernel(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    gyre_status status = gyre_kernel_build_by_name(kernel, desc);
    if (status == GYRE_OK)
        status = gyre_kernel_check_compiled(kernel);
    if (status == GYRE_OK)
        status = gyre_sections_look(kernel->runtime, GYRE_SECTION_KERNEL, kernel->name, kernel->build);
    if (status == GYRE_OK)
        status = gyre_sections_look(kernel->runtime, GYRE_SECTION_QUEUE, kernel->name, kernel->build);
    if (status == GYRE_OK)
        status = gyre_kernel_check_shard_key(kernel);
    if (status == GYRE_OK)
        status = gyre_kernel_types_create(kernel->name, kernel->record->request, kernel->record->reply,
                                          &kernel->types);
    if (status == GYRE_OK)
        status = gyre_kernel_types_mark(kernel->types, kernel->record->queries);
    if (status == GYRE_OK)
        status = gyre_types_of_kernel(kernel);
    if (status == GYRE_OK)
        status = choose_shape(kernel, desc);
    if (status == GYRE_OK)
        status = gyre_kernel_bind(kernel, desc);
    if (status == GYRE_OK)
        status = gyre_kernel_prepare_state(kernel, desc);
    if (status == GYRE_OK)
        status = gyre_control_create(kernel);
    if (status == GYRE_OK)
        gyre_kernel_busy_begin(kernel);
    if (status == GYRE_OK)
        status = gyre_durability_create(kernel);
    if (status == GYRE_OK)
        status = open_main_queue(kernel, desc);
    if (status == GYRE_OK)
        status = gyre_kernel_list(kernel); /* before the start: the watcher finds the kernel in the list */
    if (status == GYRE_OK) {
        pthread_mutex_lock(&kernel->lock);
        status = gyre_kernel_start(kernel, !desc->start_inactive && gyre_kernel_setting(kernel, "active"));
        pthread_mutex_unlock(&kernel->lock);
    }
    if (status != GYRE_OK)
        return status;
    return gyre_durability_start(kernel, desc->source ? desc->source : kernel_text(kernel, "source"));
}

static gyre_status check_launch(const gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_kernel **out)
{
    if (!runtime || !desc || !out || desc->size < sizeof desc->size)
        return GYRE_ARGUMENTS("gyre_launch", {"runtime", runtime}, GYRE_SIZED(desc), {"out", out});
    *out = NULL;
    return gyre_runtime_check_own(runtime, "gyre_launch");
}

static gyre_status check_given(const gyre_launch_desc *given)
{
    if (given->name && strlen(given->name) >= GYRE_NAME_MAX)
        return gyre_error_set(GYRE_INVALID, "a kernel's name has 1 to %d characters, found %zu: '%.20s...'",
                              GYRE_NAME_MAX - 1, strlen(given->name), given->name);
    if ((!given->source && !given->name) || (given->source && !given->source[0]) ||
        (given->name && !given->name[0]))
        return gyre_error_set(
            GYRE_INVALID,
            "no kernel was named; expected a source (FILE.gyre.c, FILE.gyre.c:KERNEL), or the "
            "name (1 to %d characters) of a kernel whose source is configured",
            GYRE_NAME_MAX - 1);
    if (given->name && !gyre_text_is_plain(given->name))
        return gyre_error_set(GYRE_INVALID, "a kernel's name: expected UTF-8 without control characters");
    if (given->binding_count > 0 && !given->bindings)
        return gyre_error_set(GYRE_INVALID, "gyre_launch: binding_count is %zu, and bindings is NULL",
                              given->binding_count);
    if (given->stage < 0 || given->stage > GYRE_STAGE_MOST)
        return gyre_error_set(GYRE_INVALID, "gyre_launch: stage is %d; expected 0 to %d (gyre_launch_desc)",
                              given->stage, GYRE_STAGE_MOST);
    return GYRE_OK;
}

static gyre_status launch(gyre_runtime *runtime, const gyre_launch_desc *desc, bool helped, gyre_kernel **out)
{
    gyre_launch_desc given = {.size = sizeof given};
    gyre_status status = check_launch(runtime, desc, out);
    if (status != GYRE_OK)
        return status;
    memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    status = check_given(&given);
    if (status != GYRE_OK)
        return status;
    gyre_kernel *kernel = gyre_kernel_create(runtime);
    if (!kernel)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a kernel");
    gyre_kernel_set_helped(kernel, helped);
    status = launch_kernel(kernel, &given);
    if (status != GYRE_OK) {
        gyre_kernel_release(kernel);
        return status;
    }
    gyre_kernel_announce(kernel);
    *out = kernel;
    return GYRE_OK;
}

gyre_status gyre_launch(gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_kernel **out)
{
    return launch(runtime, desc, false, out);
}

gyre_status gyre_launch_helped(gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_kernel **out)
{
    return launch(runtime, desc, true, out);
}

/* Builds the kernel of a descriptor and launches nothing. The caller owns *out, even after a failure. */
static gyre_status only_build(gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_kernel **out)
{
    *out = NULL;
    gyre_status status = check_given(desc);
    if (status != GYRE_OK)
        return status;
    *out = gyre_kernel_create(runtime);
    if (!*out)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a kernel");
    (*out)->only_built = true;
    return gyre_kernel_build_by_name(*out, desc);
}

gyre_status gyre_launch_check_names(gyre_runtime *runtime, const gyre_launch_desc *desc)
{
    gyre_kernel *kernel;
    gyre_status status = only_build(runtime, desc, &kernel);
    if (status == GYRE_OK)
        status = gyre_kernel_check_bindings(kernel, desc);
    gyre_kernel_release(kernel);
    return status;
}

gyre_status gyre_launch_state_layout(gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_layout **out)
{
    gyre_kernel *kernel;
    *out = NULL;
    gyre_status status = only_build(runtime, desc, &kernel);
    if (status == GYRE_OK)
        status = gyre_layout_create(kernel->record->state, GYRE_STATE_MAX, out);
    gyre_kernel_release(kernel);
    return status;
}

gyre_status gyre_pipeline_check_attachable(gyre_pipeline *pipeline)
{
    return gyre_pipeline_check_lent(pipeline);
}
