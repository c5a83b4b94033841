/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a kernel, and its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/runtime/runtime.h"

void gyre_kernel_set_state(gyre_kernel *kernel, gyre_kernel_state state)
{
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

/* Takes down what a launch made, in any stage of it; the device has left. */
void gyre_kernel_free(gyre_kernel *kernel)
{
    if (kernel->resident) { /* a launch that did not report: it was told to stop */
        gyre_control_order(kernel, GYRE_VERB_STOP);
        if (gyre_dispatch_wait(kernel->dispatch, kernel->resident, gyre_in_ms(1000)) == GYRE_TIMEOUT)
            return; /* it may still touch its memory: better to keep it */
        gyre_dispatch_release(kernel->dispatch, kernel->resident);
        kernel->resident = NULL;
    }
    while (kernel->queues)
        gyre_kernel_remove_queue(kernel, kernel->queues);
    gyre_dispatch_memory_release(kernel->dispatch, kernel->state);
    gyre_build_release(kernel->build);
    gyre_region_destroy(&kernel->region);
    pthread_mutex_destroy(&kernel->lock);
    free(kernel->buffers);
    free(kernel->initial_state);
    free(kernel);
}

void gyre_kernel_release(gyre_kernel *kernel)
{
    if (!kernel)
        return;
    gyre_status status = gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL);
    unlist(kernel);
    if (status == GYRE_TIMEOUT) {
        /* a handler runs for ever: its thread cannot be taken away, so its memory has to stay */
        gyre_runtime_log(kernel->runtime, GYRE_LOG_ERROR, "%s; its memory stays behind", gyre_error_text());
        return;
    }
    gyre_kernel_free(kernel);
}

static void count_messages(const gyre_kernel *kernel, gyre_kernel_info *info)
{
    const gyre_control_block *blocks = gyre_control_blocks(kernel);
    for (uint32_t i = 0; i < kernel->blocks; i++) {
        info->handled += __atomic_load_n(&blocks[i].handled, __ATOMIC_RELAXED);
        info->failed += __atomic_load_n(&blocks[i].failed, __ATOMIC_RELAXED);
    }
    for (const gyre_queue *queue = kernel->queues; queue; queue = queue->next) {
        info->queues++;
        info->queued += gyre_queue_outstanding(queue);
    }
}

gyre_status gyre_kernel_info_get(const gyre_kernel *kernel, gyre_kernel_info *info)
{
    gyre_kernel_info now = {.size = sizeof now};
    if (!kernel || !info || info->size < sizeof info->size)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_kernel_info_get needs a kernel and an info with its size set");
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&kernel->lock; /* the lock of a constant object */
    const gyre_device_info *device = gyre_dispatch_device_info(kernel->dispatch);
    pthread_mutex_lock(lock);
    snprintf(now.name, sizeof now.name, "%s", kernel->name);
    snprintf(now.kernel, sizeof now.kernel, "%s", kernel->record->name);
    snprintf(now.backend, sizeof now.backend, "%s", gyre_dispatch_backend(kernel->dispatch));
    snprintf(now.device, sizeof now.device, "%s", device->name);
    now.state = gyre_kernel_get_state(kernel);
    now.lanes = kernel->lanes;
    now.blocks = kernel->blocks;
    now.launched_ns = kernel->launched_ns;
    now.cache_hit = gyre_build_report(kernel->build)->cache_hit;
    now.request = kernel->record->request;
    now.reply = kernel->record->reply;
    now.state_type = kernel->record->state;
    count_messages(kernel, &now);
    pthread_mutex_unlock(lock);
    memcpy(info, &now, info->size < sizeof now ? info->size : sizeof now);
    return GYRE_OK;
}

size_t gyre_kernels(gyre_runtime *runtime, gyre_kernel **out, size_t capacity)
{
    size_t count = 0;
    if (!runtime)
        return 0;
    pthread_mutex_lock(&runtime->lock);
    for (gyre_kernel *kernel = runtime->kernels; kernel; kernel = kernel->next, count++)
        if (out && count < capacity)
            out[count] = kernel;
    pthread_mutex_unlock(&runtime->lock);
    return count;
}

gyre_kernel *gyre_kernel_find(gyre_runtime *runtime, const char *name)
{
    gyre_kernel *kernel = NULL;
    if (!runtime || !name)
        return NULL;
    pthread_mutex_lock(&runtime->lock);
    for (kernel = runtime->kernels; kernel && strcmp(kernel->name, name) != 0;)
        kernel = kernel->next;
    pthread_mutex_unlock(&runtime->lock);
    return kernel;
}

gyre_status gyre_kernel_state_read(gyre_kernel *kernel, void *state, size_t size)
{
    gyre_status status = GYRE_OK;
    if (!kernel || !state)
        return gyre_error_set(GYRE_INVALID, "gyre_kernel_state_read needs a kernel and memory for its state");
    pthread_mutex_lock(&kernel->lock);
    gyre_kernel_state now = gyre_kernel_get_state(kernel);
    if (now != GYRE_KERNEL_INACTIVE && now != GYRE_KERNEL_TERMINATED)
        status = gyre_error_set(GYRE_INVALID,
                                "the state of kernel '%s' changes while it is %s; deactivate it first",
                                kernel->name, gyre_kernel_state_word(now));
    else if (size != kernel->record->state->size || !kernel->state)
        status = gyre_error_set(GYRE_INVALID, "kernel '%s' has a state of %llu bytes, found room for %zu",
                                kernel->name, (unsigned long long)kernel->record->state->size, size);
    else
        status =
            gyre_control_acknowledged(kernel, now == GYRE_KERNEL_INACTIVE ? gyre_in_ms(1000) : GYRE_FOREVER);
    if (status == GYRE_OK) {
        gyre_transfer_desc download = {.size = sizeof download,
                                       .kind = GYRE_TRANSFER_DOWNLOAD,
                                       .memory = kernel->state,
                                       .byte_count = size,
                                       .target = state};
        status = gyre_dispatch_transfer(kernel->dispatch, &download);
    }
    pthread_mutex_unlock(&kernel->lock);
    return status;
}
