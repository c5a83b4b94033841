/* SPDX-License-Identifier: Apache-2.0 */
/* Puts kernels on their runtime's list, and takes them off. Lock: runtime->lock. */
#include "core/kernel/list.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/probe.h"
#include "core/device/watcher.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/handles.h"
#include "core/kernel/visit.h"

static gyre_status name_taken(const gyre_kernel *kernel)
{
    return gyre_error_set(GYRE_INVALID,
                          "a kernel '%s' is launched already; give this one another name, that of a section "
                          "[kernel.OTHER] with source = FILE",
                          kernel->name);
}

static gyre_status enter_list(gyre_kernel *kernel)
{
    gyre_runtime *runtime = kernel->runtime;
    pthread_mutex_lock(&runtime->lock);
    struct gyre_kernel **link = &runtime->kernels;
    while (*link && strcmp((*link)->name, kernel->name) != 0)
        link = &(*link)->next;
    bool taken = *link != NULL;
    if (!taken)
        *link = kernel;
    pthread_mutex_unlock(&runtime->lock);
    if (!taken)
        gyre_handles_refresh(
            kernel); /* names from before; a later one is written into a listed kernel's table when it is given */
    return taken ? name_taken(kernel) : GYRE_OK;
}

gyre_status gyre_kernel_list(gyre_kernel *kernel)
{
    const struct gyre_watcher *watcher = kernel->runtime->watcher;
    gyre_status status = watcher->begin(kernel);
    if (status == GYRE_OK)
        status = enter_list(kernel);
    return status == GYRE_OK ? watcher->listed(kernel) : status;
}

void gyre_kernel_unlist(gyre_kernel *kernel)
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
    GYRE_PROBE2(launched, kernel->name, gyre_dispatch_backend(kernel->dispatch));
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
    gyre_kernel *kernel = gyre_kernel_find_locked(runtime, name);
    pthread_mutex_unlock(&runtime->lock);
    return kernel;
}
