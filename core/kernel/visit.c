/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the visitors of kernels, which keep a kernel from being freed. Locks: runtime->lock for the list of kernels,
 * kernel->lock when a visitor leaves. */
#include "core/kernel/visit.h"

#include <stdlib.h>
#include <string.h>

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

gyre_kernel *gyre_kernel_find_locked(const gyre_runtime *runtime, const char *name)
{
    gyre_kernel *kernel = runtime->kernels;
    while (kernel && (!kernel->announced || strcmp(kernel->name, name) != 0))
        kernel = kernel->next;
    return kernel;
}

gyre_kernel *gyre_kernel_visit(gyre_runtime *runtime, const char *name)
{
    pthread_mutex_lock(&runtime->lock);
    gyre_kernel *kernel = gyre_kernel_find_locked(runtime, name);
    if (kernel)
        __atomic_fetch_add(&kernel->visitors, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&runtime->lock);
    return kernel;
}

bool gyre_kernel_visit_this(gyre_kernel *kernel)
{
    gyre_runtime *runtime = kernel->runtime;
    pthread_mutex_lock(&runtime->lock);
    const gyre_kernel *listed = runtime->kernels;
    while (listed && listed != kernel)
        listed = listed->next;
    if (listed)
        __atomic_fetch_add(&kernel->visitors, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&runtime->lock);
    return listed != NULL;
}

void gyre_kernel_leave(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    __atomic_fetch_sub(&kernel->visitors, 1, __ATOMIC_RELEASE); /* pairs with free_kernel */
    pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
}
