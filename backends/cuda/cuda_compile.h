/* SPDX-License-Identifier: Apache-2.0 */
/* The operation that compiles a unit of kernels. */
#ifndef GYRE_CUDA_COMPILE_H
#define GYRE_CUDA_COMPILE_H

#include "cuda_backend.h"

gyre_status cuda_compile(gyre_device *device, const gyre_compile_desc *desc);
/** The compiler and what tells it from another; "" when there is none. */
void cuda_compiler_identity(const gyre_device *device, char *text, size_t size);

#endif
