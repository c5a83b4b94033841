/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded modules and their kernels. */
#ifndef GYRE_OPENCL_MODULE_H
#define GYRE_OPENCL_MODULE_H

#include "opencl_backend.h"

gyre_status opencl_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out);
gyre_status opencl_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record);
void opencl_module_release(gyre_module *module);
/** The module's program for such lanes, which the module keeps; builds it if necessary. One thread a device. */
gyre_status opencl_module_program(gyre_module *module, enum opencl_lanes lanes, cl_program *program);
/** The kernel of that name, or NULL. */
const struct opencl_kernel *opencl_module_find(const struct gyre_module *module, const char *name);

#endif
