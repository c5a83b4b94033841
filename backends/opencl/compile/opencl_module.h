/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded modules (compiled kernel files) and their kernels. */
#ifndef GYRE_OPENCL_MODULE_H
#define GYRE_OPENCL_MODULE_H

#include "backends/opencl/opencl_backend.h"

gyre_status opencl_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out);
gyre_status opencl_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record);
void opencl_module_release(gyre_module *module);
/**
 * Returns the module's program for lanes of that kind; builds it if necessary. The module keeps it. One
 * thread of a device calls at a time.
 */
gyre_status opencl_module_program(gyre_module *module, enum opencl_lanes lanes, cl_program *program);
/** Returns the kernel of the module with that name, or NULL. */
const struct opencl_kernel *opencl_module_find(const struct gyre_module *module, const char *name);

#endif
