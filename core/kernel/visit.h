/* SPDX-License-Identifier: Apache-2.0 */
/* Finds kernels and keeps them from being freed: a visited kernel is not freed before gyre_kernel_leave. */
#ifndef GYRE_CORE_KERNEL_VISIT_H
#define GYRE_CORE_KERNEL_VISIT_H

#include "core/kernel/kernel.h"

/** The announced kernel of that name, or NULL. Under runtime->lock. */
gyre_kernel *gyre_kernel_find_locked(const gyre_runtime *runtime, const char *name);
/** The announced kernel of that name, or NULL. The kernel is not freed before gyre_kernel_leave. */
gyre_kernel *gyre_kernel_visit(gyre_runtime *runtime, const char *name);
/** Visits that kernel. False, and it is not visited: it is being released. The caller knows that it is not freed yet. */
bool gyre_kernel_visit_this(gyre_kernel *kernel);
/** Visits the kernels of a device (NULL: of all devices). None is freed before gyre_kernel_leave. NULL without memory. */
gyre_kernel **gyre_kernels_visit(gyre_runtime *runtime, const struct gyre_dispatch *dispatch, size_t *count);
/** Does what gyre_kernels_visit does, for a caller that holds runtime->lock. */
gyre_kernel **gyre_kernels_visit_locked(gyre_runtime *runtime, const struct gyre_dispatch *dispatch,
                                        size_t *count);
/** Visits the first `room` kernels of all devices, and allocates nothing. Returns the number of all kernels. */
size_t gyre_kernels_visit_some(gyre_runtime *runtime, gyre_kernel **out, size_t room);
void gyre_kernel_leave(gyre_kernel *kernel);

#endif
