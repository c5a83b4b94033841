/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels that a cubin declares, rebuilt from its symbols (device_module.h, message.h): no GPU is needed.
 * Private to this folder.
 */
#ifndef GYRE_CUDA_RECORDS_H
#define GYRE_CUDA_RECORDS_H

#include "cuda_backend.h"

/**
 * Fills in kernels, kernel_count and records of `module`, whose device is set, from a copy of the cubin.
 * INCOMPATIBLE when it is no cubin or is damaged. The records made so far belong to the module also after a failure.
 */
gyre_status cuda_records_read(gyre_module *module, const char *path, const void *cubin, size_t size);

/** Accepts NULL. */
void cuda_records_release(struct cuda_records *records);

#endif
