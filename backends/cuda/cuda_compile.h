/* SPDX-License-Identifier: Apache-2.0 */
/* The operation that compiles a unit of kernels into a file for a GPU. */
#ifndef GYRE_CUDA_COMPILE_H
#define GYRE_CUDA_COMPILE_H

#include "cuda_backend.h"

gyre_status cuda_compile(gyre_device *device, const gyre_compile_desc *desc);
/**
 * Writes what distinguishes this compiler from any other (versions, options); "" when there is no compiler.
 */
void cuda_compiler_identity(const gyre_device *device, char *text, size_t size);

#endif
