/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Releases a kernel with everything that its launch made.
 *
 * Locks: kernel->lock while the device side ends. log.lock keeps a handler that never returns from logging a line to the
 * application after the release.
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/keyed.h"
#include "core/kernel/end.h"
#include "core/kernel/handles.h"
#include "core/kernel/keeper.h"
#include "core/kernel/kernel_queue.h"
#include "core/kernel/list.h"
#include "core/kernel/observed.h"
#include "core/kernel/protocol.h"
#include "core/kernel/node.h"
#include "core/observation/observation.h"
#include "core/pipeline/build.h"
#include "core/ring/region.h"

static const char *why_it_stays(gyre_status status)
{
    return status == GYRE_TIMEOUT
               ? "did not stop in time: a handler does not return, or its device gives it no time"
               : "may still run, its device does not say";
}

/* Keeps the memory of a kernel whose handler may run for ever, because the handler's thread cannot be ended. */
static void leave_behind(gyre_kernel *kernel, const char *why)
{
    gyre_runtime_log(kernel->runtime, GYRE_LOG_ERROR, "kernel '%s' %s; its memory stays behind", kernel->name,
                     why);
    gyre_handles_keep(kernel);
    gyre_observation_keep(gyre_runtime_observation(kernel->runtime));
    pthread_mutex_lock(&kernel->log.lock);
    kernel->log.ended = true;
    pthread_mutex_unlock(&kernel->log.lock);
}

/* Ends the device side, and waits for all threads that use the kernel. Under the lock. */
static gyre_status end_for_good(gyre_kernel *kernel)
{
    gyre_status status = gyre_kernel_end(kernel, GYRE_NO_WAIT, NULL);
    if (kernel->resident)
        gyre_kernel_abandon_queues(kernel); /* threads that serve a queue to another program leave then */
    while (kernel->turn.inside || gyre_kernel_is_taken(kernel) ||
           __atomic_load_n(&kernel->visitors, __ATOMIC_ACQUIRE))
        pthread_cond_wait(&kernel->changed, &kernel->lock);
    return status;
}

/*
 * Frees a kernel, also a kernel whose launch failed half-way. If the device side does not leave, memory that a handler may
 * still touch stays allocated, and the log says so.
 */
static void free_kernel(gyre_kernel *kernel)
{
    gyre_error_hold();
    gyre_keeper_stop(kernel);
    pthread_mutex_lock(&kernel->lock);
    kernel->end.leaving = true;
    gyre_status status = end_for_good(kernel);
    /* the worker process, with the handler that did not return, may have died meanwhile */
    if (kernel->resident && !gyre_dispatch_is_current(kernel->dispatch, kernel->resident))
        status = end_for_good(kernel);
    const bool stays = kernel->resident != NULL, is_used = kernel->node.stays;
    gyre_kernel_unobserve(kernel);
    pthread_mutex_unlock(&kernel->lock);
    gyre_error_let_go();
    if (stays || is_used) {
        leave_behind(kernel,
                     stays ? why_it_stays(status) : "was a stage beside a handler that does not return");
        return;
    }
    gyre_kernel_free_queues(kernel);
    gyre_keeper_destroy(kernel);
    gyre_dispatch_memory_release(kernel->dispatch, kernel->memory.state);
    gyre_kernel_types_destroy(kernel->types);
    gyre_build_release(kernel->build);
    for (size_t i = 0; i < kernel->past.count; i++)
        gyre_build_release(kernel->past.builds[i]);
    free(kernel->past.builds);
    gyre_region_destroy(&kernel->region);
    pthread_cond_destroy(&kernel->changed);
    pthread_mutex_destroy(&kernel->errand.lock);
    pthread_mutex_destroy(&kernel->log.lock);
    pthread_mutex_destroy(&kernel->lock);
    pthread_mutex_destroy(&kernel->changer);
    free(kernel->care);
    free(kernel->busy);
    free(kernel->memory.buffers);
    free(kernel->memory.initial_state);
    gyre_keyed_destroy(kernel->memory.keyed);
    free(kernel);
}

void gyre_kernel_release(gyre_kernel *kernel)
{
    if (!kernel || kernel->runtime->foreign)
        return;
    gyre_node_end(kernel);
    gyre_kernel_unlist(kernel);
    free_kernel(kernel);
}
