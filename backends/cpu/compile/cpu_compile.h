/* SPDX-License-Identifier: Apache-2.0 */
/* The operation that compiles a unit of kernels into a shared library. */
#ifndef GYRE_CPU_COMPILE_H
#define GYRE_CPU_COMPILE_H

#include "backends/cpu/cpu_backend.h"

gyre_status cpu_compile(gyre_device *device, const gyre_compile_desc *desc);

#endif
