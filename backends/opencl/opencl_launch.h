/* SPDX-License-Identifier: Apache-2.0 */
/* Launching kernels, waiting for their end, and freeing them. */
#ifndef GYRE_OPENCL_LAUNCH_H
#define GYRE_OPENCL_LAUNCH_H

#include "opencl_backend.h"

gyre_status opencl_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out);
gyre_status opencl_wait(gyre_resident *resident, uint64_t deadline_ns);
void opencl_release(gyre_resident *resident);

#endif
