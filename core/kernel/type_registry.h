/* SPDX-License-Identifier: Apache-2.0 */
/* The types that a runtime knows. */
#ifndef GYRE_CORE_KERNEL_TYPE_REGISTRY_H
#define GYRE_CORE_KERNEL_TYPE_REGISTRY_H

#include "core/kernel/kernel.h"

gyre_status gyre_types_of_kernel(const gyre_kernel *kernel);
void gyre_types_forget(gyre_runtime *runtime);

#endif
