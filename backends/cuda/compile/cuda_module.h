/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded modules (compiled kernel files) and their kernels. */
#ifndef GYRE_CUDA_MODULE_H
#define GYRE_CUDA_MODULE_H

#include "backends/cuda/cuda_backend.h"

gyre_status cuda_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out);
gyre_status cuda_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record);
void cuda_module_release(gyre_module *module);
/** Returns the kernel of the module with that name, or NULL. */
const struct cuda_kernel *cuda_module_find(const struct gyre_module *module, const char *name);

#endif
