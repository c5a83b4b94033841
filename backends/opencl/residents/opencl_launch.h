/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that launch a kernel, wait for its end, and free it. */
#ifndef GYRE_OPENCL_LAUNCH_H
#define GYRE_OPENCL_LAUNCH_H

#include "backends/opencl/opencl_backend.h"

gyre_status opencl_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out);
gyre_status opencl_wait(gyre_resident *resident, uint64_t deadline_ns);
void opencl_release(gyre_resident *resident);

#endif
