/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges for profilers: what the backend does appears by name on the time line of Nsight Systems and similar
 * tools (the vendor's NVTX protocol, version 3). Without a profiler a range costs one look at a flag.
 */
#ifndef GYRE_CUDA_RANGES_H
#define GYRE_CUDA_RANGES_H

#include "gyre/backend.h"

/** Begins a range of the calling thread; ranges nest. The tool copies `text`. */
void cuda_range_begin(const gyre_host *host, const char *text);
/** Ends the last range that the calling thread began. */
void cuda_range_end(void);

/** Begins a range that any thread may end, and returns its number; 0 when there is no profiler. */
uint64_t cuda_range_open(const gyre_host *host, const char *text);
void cuda_range_close(uint64_t range);

#endif
