/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges for profilers: what the backend does, by name, on the time line of Nsight Systems and its kin (the
 * vendor's NVTX protocol, version 3). Without a profiler attached a range costs the look at one flag.
 */
#ifndef GYRE_CUDA_RANGES_H
#define GYRE_CUDA_RANGES_H

#include "gyre/backend.h"

/** Begins a range of the calling thread; ranges nest. `text` is copied by the tool. */
void cuda_range_begin(const gyre_host *host, const char *text);
/** Ends the thread's last range. */
void cuda_range_end(void);

/** A range from here to whatever thread ends it; 0 when there is no profiler. */
uint64_t cuda_range_open(const gyre_host *host, const char *text);
void cuda_range_close(uint64_t range);

#endif
