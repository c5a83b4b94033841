/* SPDX-License-Identifier: Apache-2.0 */
/* Has a kernel's requests handled by a thread that waits for them (help.h). Lock: kernel->lock, not while handlers run. */
#include "core/kernel/help.h"

#include "core/dispatch/dispatch.h"

static gyre_resident *begin(gyre_kernel *kernel, struct gyre_dispatch **dispatch)
{
    pthread_mutex_lock(&kernel->lock);
    gyre_resident *const resident = kernel->helped ? kernel->resident : NULL;
    *dispatch = kernel->dispatch;
    kernel->turn.helping += resident != NULL;
    pthread_mutex_unlock(&kernel->lock);
    return resident;
}

static void end(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    if (--kernel->turn.helping == 0 && !kernel->resident)
        pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
}

gyre_status gyre_kernel_help(gyre_kernel *kernel)
{
    struct gyre_dispatch *dispatch;
    gyre_resident *const resident = begin(kernel, &dispatch);
    if (!resident)
        return kernel->helped ? GYRE_AGAIN : GYRE_UNIMPLEMENTED;
    const bool helped = gyre_dispatch_help(dispatch, resident);
    end(kernel);
    return helped ? GYRE_OK : GYRE_UNIMPLEMENTED;
}

void gyre_kernel_await_helpers(gyre_kernel *kernel)
{
    while (kernel->turn.helping)
        pthread_cond_wait(&kernel->changed, &kernel->lock);
}
