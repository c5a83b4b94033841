/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded modules (compiled kernel files) and their kernels. */
#ifndef GYRE_CPU_MODULE_H
#define GYRE_CPU_MODULE_H

#include "backends/cpu/cpu_backend.h"

gyre_status cpu_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out);
gyre_status cpu_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record);
void cpu_module_release(gyre_module *module);
/** Returns the kernel of the module with that name, or NULL. */
const gyre_cpu_kernel *cpu_module_find(const struct gyre_module *module, const char *name);

#endif
