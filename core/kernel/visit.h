/* SPDX-License-Identifier: Apache-2.0 */
/* Visitors of kernels, which keep them from being freed. */
#ifndef GYRE_CORE_KERNEL_VISIT_H
#define GYRE_CORE_KERNEL_VISIT_H

#include "core/kernel/kernel.h"

/** The kernel of that name, of those that applications see; NULL: there is none. Under runtime->lock. */
gyre_kernel *gyre_kernel_find_locked(const gyre_runtime *runtime, const char *name);
/** The kernel of that name, kept from being freed until gyre_kernel_leave; NULL when there is none. */
gyre_kernel *gyre_kernel_visit(gyre_runtime *runtime, const char *name);
/** Kernels of a device (NULL: of all), kept from being freed until gyre_kernel_leave; NULL without memory. */
gyre_kernel **gyre_kernels_visit(gyre_runtime *runtime, const struct gyre_dispatch *dispatch, size_t *count);
/** The same under runtime->lock. */
gyre_kernel **gyre_kernels_visit_locked(gyre_runtime *runtime, const struct gyre_dispatch *dispatch,
                                        size_t *count);
/** The same for the first `room` kernels of all, without allocating; how many there are. */
size_t gyre_kernels_visit_some(gyre_runtime *runtime, gyre_kernel **out, size_t room);
void gyre_kernel_leave(gyre_kernel *kernel);

#endif
