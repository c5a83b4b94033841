/* SPDX-License-Identifier: Apache-2.0 */
/* The operation that compiles a unit of kernels into a file for a GPU. */
#ifndef GYRE_CUDA_COMPILE_H
#define GYRE_CUDA_COMPILE_H

#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/compile/cuda_parts.h"

gyre_status cuda_compile(gyre_device *device, const gyre_compile_desc *desc);
/**
 * Compiles a text of this backend's own, with no headers, into what cuModuleLoadData takes on the device. `options` as in gyre_compile_desc.
 * UNAVAILABLE without a compiler. Owner of out->bytes: the caller, free().
 */
gyre_status cuda_compile_text(const gyre_device *device, const char *text, const char *options,
                              struct cuda_image *out);
/**
 * Writes what distinguishes this compiler from any other (versions, options); "" when there is no compiler.
 */
void cuda_compiler_identity(const gyre_device *device, char *text, size_t size);

#endif
