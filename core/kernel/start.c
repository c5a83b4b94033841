/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the device side of a kernel, at its launch and at a relaunch.
 *
 * Lock: kernel->lock, given up while the backend works. turn.starting keeps other threads off the device side meanwhile.
 */
#include "core/kernel/start.h"

#include <stdlib.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/device/buffer.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/binding.h"
#include "core/kernel/control.h"
#include "core/kernel/end.h"
#include "core/kernel/keeper.h"
#include "core/kernel/keyed.h"
#include "core/kernel/observed.h"
#include "core/kernel/queue_table.h"
#include "core/pipeline/build.h"
#include "core/types/buffers.h"

enum { STARTS_MAX = 3 };

static gyre_status write_state(gyre_kernel *kernel)
{
    if (!kernel->memory.state)
        return GYRE_OK;
    if (kernel->memory.keyed)
        return gyre_keyed_write(kernel);
    if (!kernel->memory.initial_state)
        return gyre_memory_fill_zero(kernel->dispatch, kernel->memory.state, kernel->record->state->size);
    gyre_transfer_desc upload = {.size = sizeof upload,
                                 .kind = GYRE_TRANSFER_UPLOAD,
                                 .memory = kernel->memory.state,
                                 .byte_count = kernel->record->state->size,
                                 .source = kernel->memory.initial_state};
    return gyre_dispatch_transfer(kernel->dispatch, &upload);
}

static void log_line(void *context, const char *text, int64_t value)
{
    gyre_kernel *kernel = context;
    pthread_mutex_lock(&kernel->log.lock);
    if (!kernel->log.ended) /* else the runtime may be gone */
        gyre_runtime_log_handler(kernel->runtime, GYRE_LOG_INFO, "kernel '%s': %s %lld", kernel->name, text,
                                 (long long)value);
    pthread_mutex_unlock(&kernel->log.lock);
}

static void describe_bindings(const gyre_kernel *kernel, const gyre_buffer_list *list,
                              gyre_binding_desc *bindings)
{
    for (uint32_t i = 0; i < kernel->memory.buffer_count; i++)
        bindings[i] =
            (gyre_binding_desc){.memory = kernel->memory.buffers[i]->memory,
                                .element_count = kernel->memory.buffers[i]->size / list->slots[i].type->size};
}

gyre_status gyre_kernel_launch_device(gyre_kernel *kernel, bool anew, gyre_resident **out)
{
    gyre_buffer_list list = {0};
    gyre_binding_desc *bindings = calloc((size_t)kernel->memory.buffer_count + 1, sizeof *bindings);
    gyre_status status = anew ? write_state(kernel) : GYRE_OK;
    if (status == GYRE_OK && anew)
        status = gyre_keeper_begin(kernel);
    if (status == GYRE_OK && !bindings)
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for %u bindings", kernel->memory.buffer_count);
    if (status == GYRE_OK)
        status = gyre_buffer_list_init(&list, kernel->record->buffers, kernel->record->buffer_types);
    if (status == GYRE_OK) {
        describe_bindings(kernel, &list, bindings);
        gyre_resident_desc desc = {.size = sizeof desc,
                                   .control = kernel->control,
                                   .control_size = kernel->region.size,
                                   .control_descriptor = kernel->region.descriptor,
                                   .kernel_name = kernel->record->name,
                                   .lanes = kernel->lanes,
                                   .blocks = kernel->blocks,
                                   .state = kernel->memory.state,
                                   .bindings = bindings,
                                   .binding_count = kernel->memory.buffer_count,
                                   .idle = gyre_control_idle(kernel),
                                   .spin_turns = (uint32_t)gyre_kernel_setting(kernel, "spin_turns"),
                                   .kernel_log = log_line,
                                   .kernel_log_context = kernel,
                                   .errand = &kernel->errand.shown,
                                   .trace = &kernel->traced,
                                   .helped = kernel->helped};
        status = gyre_dispatch_launch(kernel->dispatch, gyre_build_module(kernel->build), &desc, out);
    }
    gyre_buffer_list_finish(&list);
    free(bindings);
    return status;
}

/* Waits until all blocks run. If they do not, the launch is taken back: a stop command ends the blocks that did start. */
static gyre_status await_first_words(gyre_kernel *kernel)
{
    const struct gyre_config *config = kernel->runtime->config;
    uint64_t limit = gyre_config_ns(config, GYRE_SECTION_KERNEL, kernel->name, "launch_timeout_ms");
    gyre_status status = gyre_control_acknowledged(kernel, GYRE_YIELD_TO_STOP, gyre_clock_ns() + limit);
    if (status == GYRE_OK || status == GYRE_CLOSED)
        return status;
    gyre_error_add(status, "kernel '%s' was launched and did not report", kernel->name);
    gyre_error_hold();
    gyre_kernel_end(kernel, GYRE_NO_WAIT, NULL);
    gyre_error_let_go();
    return status;
}

/*
 * Tries one start. Under the lock, given up meanwhile. LOST when the worker process died, perhaps because of another kernel;
 * this thread tries again then, because recovery does not revive a kernel that is being started.
 */
static gyre_status try_start(gyre_kernel *kernel, gyre_resident **out)
{
    pthread_mutex_unlock(&kernel->lock);
    gyre_status status = gyre_kernel_launch_device(kernel, true, out);
    pthread_mutex_lock(&kernel->lock);
    if (status != GYRE_OK)
        return status;
    status = gyre_keeper_replay(kernel, *out);
    if (status == GYRE_OK && gyre_dispatch_is_current(kernel->dispatch, *out))
        return GYRE_OK;
    gyre_dispatch_release(kernel->dispatch, *out);
    *out = NULL;
    if (status != GYRE_OK && status != GYRE_LOST)
        return status;
    return gyre_error_set(GYRE_LOST, "the worker process died while kernel '%s' was launched", kernel->name);
}

/* For a fault point: the worker dies before it gets its first command. */
static void lose_worker(const gyre_kernel *kernel)
{
    const struct timespec pause = {0, 100000};
    gyre_dispatch_kill(kernel->dispatch, "a fault point said so");
    while (gyre_dispatch_is_current(kernel->dispatch, kernel->resident) &&
           gyre_dispatch_isolated(kernel->dispatch))
        nanosleep(&pause, NULL);
}

gyre_status gyre_kernel_start(gyre_kernel *kernel, bool active)
{
    gyre_resident *resident = NULL;
    gyre_status status = gyre_kernel_hold_buffers(kernel);
    if (status != GYRE_OK)
        return status;
    gyre_control_reset(kernel);
    bool isolated = gyre_dispatch_isolated(kernel->dispatch);
    uint64_t verb = active ? GYRE_VERB_RUN : GYRE_VERB_PAUSE;
    bool held = isolated || kernel->checkpoints; /* the device gets its queues after it has started */
    gyre_control_order(kernel, held ? GYRE_VERB_PAUSE : verb);
    kernel->turn.starting = true;
    kernel->generation++;
    kernel->starts++;
    kernel->paused_to_save = false;
    kernel->tally = (struct gyre_kernel_tally){0};
    status = GYRE_LOST;
    for (int tries = 0; tries < STARTS_MAX && status == GYRE_LOST; tries++)
        status = try_start(kernel, &resident);
    kernel->turn.starting = false;
    kernel->resident = resident;
    if (status == GYRE_OK && GYRE_FAULT_POINT(LAUNCH_REPORT))
        lose_worker(kernel);
    if (status == GYRE_OK)
        gyre_keeper_running(kernel);
    if (status == GYRE_OK && held) { /* only now the addresses of the queues in the worker are known */
        gyre_kernel_write_table(kernel, kernel->checkpoints != NULL);
        gyre_control_order(kernel, verb);
    }
    if (status == GYRE_OK) {
        gyre_kernel_set_state(kernel, active ? GYRE_KERNEL_ACTIVE : GYRE_KERNEL_INACTIVE);
        gyre_kernel_observe_start(kernel);
    } else {
        gyre_kernel_let_buffers_go(kernel);
    }
    pthread_cond_broadcast(&kernel->changed);
    return status == GYRE_OK ? await_first_words(kernel) : status;
}
