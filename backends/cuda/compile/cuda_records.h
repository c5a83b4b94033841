/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rebuilds the descriptions of the kernels in a cubin from its symbols (device_module.h, message.h); needs no
 * GPU. Private to this folder.
 */
#ifndef GYRE_CUDA_RECORDS_H
#define GYRE_CUDA_RECORDS_H

#include "backends/cuda/cuda_backend.h"

/**
 * Fills in kernels, kernel_count and records of `module`, whose device is set, from a copy of the cubin.
 * INCOMPATIBLE when the bytes are no cubin or are damaged. Even after a failure the module owns the records
 * made so far, and must be released.
 */
gyre_status cuda_records_read(gyre_module *module, const char *path, const void *cubin, size_t size);

/** Frees the records. Accepts NULL. */
void cuda_records_release(struct cuda_records *records);

#endif
