/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL, NVIDIA's library of collectives, as a table of functions, opened at run time: Gyre neither links it nor needs its header. Made once in
 * a process and never freed. Any thread may use it.
 */
#ifndef GYRE_CUDA_NCCL_H
#define GYRE_CUDA_NCCL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include <cuda.h>

#include "gyre/backend.h"

/* What follows has the numbers of NCCL 2. */
typedef struct ncclComm *cuda_nccl_comm;

enum { CUDA_NCCL_SUCCESS = 0 };

enum cuda_nccl_type {
    CUDA_NCCL_UINT8 = 1,
    CUDA_NCCL_INT32 = 2,
    CUDA_NCCL_UINT32 = 3,
    CUDA_NCCL_INT64 = 4,
    CUDA_NCCL_UINT64 = 5,
    CUDA_NCCL_FLOAT32 = 7,
    CUDA_NCCL_FLOAT64 = 8
};

enum cuda_nccl_rule { CUDA_NCCL_SUM = 0, CUDA_NCCL_MAX = 2, CUDA_NCCL_MIN = 3 };

struct cuda_nccl {
    int (*ncclGetVersion)(int *version);
    const char *(*ncclGetErrorString)(int result);
    const char *(*ncclGetLastError)(cuda_nccl_comm comm);
    int (*ncclCommInitAll)(cuda_nccl_comm *comms, int count, const int *devices);
    int (*ncclCommDestroy)(cuda_nccl_comm comm);
    int (*ncclCommAbort)(cuda_nccl_comm comm);
    int (*ncclCommGetAsyncError)(cuda_nccl_comm comm, int *result);
    int (*ncclGroupStart)(void);
    int (*ncclGroupEnd)(void);
    int (*ncclAllReduce)(const void *source, void *target, size_t count, int type, int rule,
                         cuda_nccl_comm comm, CUstream stream);
    int (*ncclReduce)(const void *source, void *target, size_t count, int type, int rule, int root,
                      cuda_nccl_comm comm, CUstream stream);
    int (*ncclBroadcast)(const void *source, void *target, size_t count, int type, int root,
                         cuda_nccl_comm comm, CUstream stream);
    int version; /* 10000 * major + 100 * minor + patch */
    char path[PATH_MAX];
};

/**
 * Opens the library: from `path` unless it is "", else where the loader finds it. NULL, and `why` has a sentence: it is not there, lacks a
 * function, is of another version, or this process uses another one already.
 */
const struct cuda_nccl *cuda_nccl_open(const gyre_host *host, const char *path, char *why, size_t size);
/** What a result means, with the library's own words for the last failure, if it has any. */
void cuda_nccl_describe(const struct cuda_nccl *nccl, const char *call, int result, char *text, size_t size);

#endif
