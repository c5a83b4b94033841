/* SPDX-License-Identifier: Apache-2.0 */
/* The list of message types that a runtime knows. Where the types come from: type_registry.c. */
#ifndef GYRE_CORE_KERNEL_TYPE_REGISTRY_H
#define GYRE_CORE_KERNEL_TYPE_REGISTRY_H

#include "core/kernel/kernel.h"

/** Adds the types of a kernel that is being launched. */
gyre_status gyre_types_of_kernel(const gyre_kernel *kernel);
/** Frees all types of a runtime that is being closed. */
void gyre_types_forget(gyre_runtime *runtime);

#endif
