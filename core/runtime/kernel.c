/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object of a kernel, the list of a runtime's kernels, and a kernel's end.
 *
 * Locks: kernel->lock for the list of queues; runtime->lock for the list of kernels; log.lock so that no line
 * of a handler that never returns reaches the application after its kernel was released.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/pipeline/build.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/ring/region.h"
#include "core/runtime/keeper.h"
#include "core/runtime/runtime.h"

void gyre_kernel_set_state(gyre_kernel *kernel, gyre_kernel_state state)
{
    if (state == GYRE_KERNEL_LOST) /* first: whoever sees the state sees the time */
        __atomic_store_n(&kernel->losses.lost_ns, gyre_clock_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&kernel->kernel_state, state, __ATOMIC_RELEASE);
}

gyre_kernel_state gyre_kernel_get_state(const gyre_kernel *kernel)
{
    return __atomic_load_n(&kernel->kernel_state, __ATOMIC_ACQUIRE);
}

const char *gyre_kernel_state_word(gyre_kernel_state state)
{
    static const char *const words[] = {"not launched", "active",     "inactive",
                                        "stopping",     "terminated", "lost"};
    size_t index = (size_t)state;
    return index < sizeof words / sizeof words[0] ? words[index] : "unknown";
}

static void unlist(gyre_kernel *kernel)
{
    gyre_runtime *runtime = kernel->runtime;
    pthread_mutex_lock(&runtime->lock);
    struct gyre_kernel **link = &runtime->kernels;
    while (*link && *link != kernel)
        link = &(*link)->next;
    if (*link)
        *link = kernel->next;
    pthread_mutex_unlock(&runtime->lock);
}

void gyre_kernel_announce(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->runtime->lock);
    kernel->announced = true;
    pthread_mutex_unlock(&kernel->runtime->lock);
}

gyre_kernel *gyre_kernel_create(gyre_runtime *runtime)
{
    gyre_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return NULL;
    kernel->runtime = runtime;
    kernel->region = GYRE_REGION_NONE;
    kernel->launched_ns = gyre_clock_ns();
    kernel->kernel_state = GYRE_KERNEL_TERMINATED; /* until it is started */
    pthread_mutex_init(&kernel->lock, NULL);
    pthread_mutex_init(&kernel->log.lock, NULL);
    gyre_clock_condition(&kernel->changed);
    return kernel;
}

/* ---- visitors: they keep a kernel from being freed ---- */

gyre_kernel **gyre_kernels_visit_locked(gyre_runtime *runtime, const struct gyre_dispatch *dispatch,
                                        size_t *count)
{
    size_t all = 0;
    for (const gyre_kernel *kernel = runtime->kernels; kernel; kernel = kernel->next)
        all++;
    gyre_kernel **kernels = calloc(all + 1, sizeof *kernels);
    *count = 0;
    for (gyre_kernel *kernel = runtime->kernels; kernels && kernel; kernel = kernel->next) {
        if (dispatch && kernel->dispatch != dispatch)
            continue;
        __atomic_fetch_add(&kernel->visitors, 1, __ATOMIC_RELAXED);
        kernels[(*count)++] = kernel;
    }
    return kernels;
}

gyre_kernel **gyre_kernels_visit(gyre_runtime *runtime, const struct gyre_dispatch *dispatch, size_t *count)
{
    pthread_mutex_lock(&runtime->lock);
    gyre_kernel **kernels = gyre_kernels_visit_locked(runtime, dispatch, count);
    pthread_mutex_unlock(&runtime->lock);
    return kernels;
}

size_t gyre_kernels_visit_some(gyre_runtime *runtime, gyre_kernel **out, size_t room)
{
    size_t count = 0;
    pthread_mutex_lock(&runtime->lock);
    for (gyre_kernel *kernel = runtime->kernels; kernel; kernel = kernel->next, count++) {
        if (count >= room)
            continue;
        __atomic_fetch_add(&kernel->visitors, 1, __ATOMIC_RELAXED);
        out[count] = kernel;
    }
    pthread_mutex_unlock(&runtime->lock);
    return count;
}

/* Under runtime->lock: of those that applications see. */
static gyre_kernel *find(const gyre_runtime *runtime, const char *name)
{
    gyre_kernel *kernel = runtime->kernels;
    while (kernel && (!kernel->announced || strcmp(kernel->name, name) != 0))
        kernel = kernel->next;
    return kernel;
}

gyre_kernel *gyre_kernel_visit(gyre_runtime *runtime, const char *name)
{
    pthread_mutex_lock(&runtime->lock);
    gyre_kernel *kernel = find(runtime, name);
    if (kernel)
        __atomic_fetch_add(&kernel->visitors, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&runtime->lock);
    return kernel;
}

void gyre_kernel_leave(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    __atomic_fetch_sub(&kernel->visitors, 1, __ATOMIC_RELEASE); /* pairs with free_kernel */
    pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
}

/* ---- the end ---- */

/* A handler runs for ever, or may: its thread cannot be taken away, so its memory has to stay. */
static void leave_behind(gyre_kernel *kernel, gyre_status why)
{
    gyre_runtime_log(kernel->runtime, GYRE_LOG_ERROR, "kernel '%s' %s; its memory stays behind", kernel->name,
                     why == GYRE_TIMEOUT ? "did not stop within stop_timeout_ms: a handler does not return"
                                         : "may still run, its device does not say");
    gyre_handles_keep(kernel);
    pthread_mutex_lock(&kernel->log.lock);
    kernel->log.ended = true;
    pthread_mutex_unlock(&kernel->log.lock);
}

/* Ends its device side and waits for all who are at it. Under the lock. */
static gyre_status end_for_good(gyre_kernel *kernel)
{
    gyre_status status = gyre_kernel_end(kernel, GYRE_NO_WAIT, NULL);
    if (kernel->resident)
        gyre_kernel_abandon_queues(kernel); /* whoever serves one to another program goes home then */
    while (kernel->turn.inside || gyre_kernel_is_taken(kernel) ||
           __atomic_load_n(&kernel->visitors, __ATOMIC_ACQUIRE))
        pthread_cond_wait(&kernel->changed, &kernel->lock);
    return status;
}

/*
 * With what a launch made, in any stage of it. When its device side does not leave, what a handler may still
 * touch stays behind, with a line in the log.
 */
static void free_kernel(gyre_kernel *kernel)
{
    gyre_error_hold();
    gyre_keeper_stop(kernel);
    pthread_mutex_lock(&kernel->lock);
    kernel->end.leaving = true;
    gyre_status status = end_for_good(kernel);
    /* its worker may have died meanwhile, and with it the handler that did not return */
    if (kernel->resident && !gyre_dispatch_is_current(kernel->dispatch, kernel->resident))
        status = end_for_good(kernel);
    const bool stays = kernel->resident != NULL;
    pthread_mutex_unlock(&kernel->lock);
    gyre_error_let_go();
    if (stays) {
        leave_behind(kernel, status);
        return;
    }
    gyre_kernel_free_queues(kernel);
    gyre_keeper_destroy(kernel);
    gyre_dispatch_memory_release(kernel->dispatch, kernel->memory.state);
    gyre_kernel_types_destroy(kernel->types);
    gyre_build_release(kernel->build);
    gyre_region_destroy(&kernel->region);
    pthread_cond_destroy(&kernel->changed);
    pthread_mutex_destroy(&kernel->log.lock);
    pthread_mutex_destroy(&kernel->lock);
    gyre_watchdog_release(kernel);
    free(kernel->memory.buffers);
    free(kernel->memory.initial_state);
    free(kernel);
}

void gyre_kernel_release(gyre_kernel *kernel)
{
    if (!kernel || kernel->runtime->foreign)
        return;
    unlist(kernel);
    free_kernel(kernel);
}

size_t gyre_kernels(gyre_runtime *runtime, gyre_kernel **out, size_t capacity)
{
    size_t count = 0;
    if (!runtime)
        return 0;
    pthread_mutex_lock(&runtime->lock);
    for (gyre_kernel *kernel = runtime->kernels; kernel; kernel = kernel->next) {
        if (kernel->announced && out && count < capacity)
            out[count] = kernel;
        count += kernel->announced;
    }
    pthread_mutex_unlock(&runtime->lock);
    return count;
}

gyre_kernel *gyre_kernel_find(gyre_runtime *runtime, const char *name)
{
    if (!runtime || !name)
        return NULL;
    pthread_mutex_lock(&runtime->lock);
    gyre_kernel *kernel = find(runtime, name);
    pthread_mutex_unlock(&runtime->lock);
    return kernel;
}
