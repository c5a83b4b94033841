/* SPDX-License-Identifier: Apache-2.0 */
/* Commands in the service stream, which never holds a kernel. The context of each caller is current. */
#ifndef GYRE_CUDA_SERVICE_H
#define GYRE_CUDA_SERVICE_H

#include "backends/cuda/cuda_resident.h"

/**
 * Copies from the device, after the earlier commands of the stream, and waits for the copy. On failure it
 * returns false and logs the reason and `otherwise`, the consequence.
 */
bool cuda_service_read(gyre_device *device, void *to, uint64_t from, size_t size, const char *otherwise);
/**
 * Does what cuda_service_read does, unless that would wait behind commands of other threads: it then returns false and logs
 * nothing.
 */
bool cuda_service_try_read(gyre_device *device, void *to, uint64_t from, size_t size, const char *otherwise);
/** Frees memory of the pool, after the earlier commands of the stream. */
void cuda_service_free(gyre_device *device, uint64_t address);

#endif
