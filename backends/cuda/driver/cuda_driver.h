/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendor's two libraries as tables of functions, opened at run time: the driver (libcuda.so.1) and the
 * run-time compiler (NVRTC). Gyre links neither. Private to this folder.
 *
 * Each table is made once in a process and never freed, because a driver cannot be unloaded. Any thread may
 * use it.
 *
 * The functions keep the vendor's names, `driver->cuMemAlloc(...)`. The vendor's header renames some of them
 * to the version that it declares (cuMemAlloc_v2). It renames the table's member and the call alike, and the
 * renamed symbol is looked up.
 */
#ifndef GYRE_CUDA_DRIVER_H
#define GYRE_CUDA_DRIVER_H

#include <limits.h>

#include <cuda.h>
#include <nvrtc.h>

#include "gyre/backend.h"

#if CUDA_VERSION < 12040
/* older headers do not declare it: they know only lazy loading by the driver */
CUresult cuFuncLoad(CUfunction function);
#endif

/* The required functions, then functions that may be NULL. */
#define CUDA_DRIVER_FUNCTIONS(NEEDED, OPTIONAL)                                                              \
    NEEDED(cuInit)                                                                                           \
    NEEDED(cuDriverGetVersion)                                                                               \
    NEEDED(cuGetErrorName)                                                                                   \
    NEEDED(cuGetErrorString)                                                                                 \
    NEEDED(cuDeviceGet)                                                                                      \
    NEEDED(cuDeviceGetCount)                                                                                 \
    NEEDED(cuDeviceGetName)                                                                                  \
    NEEDED(cuDeviceGetAttribute)                                                                             \
    NEEDED(cuDeviceGetPCIBusId)                                                                              \
    NEEDED(cuDeviceTotalMem)                                                                                 \
    NEEDED(cuDevicePrimaryCtxRetain)                                                                         \
    NEEDED(cuDevicePrimaryCtxRelease)                                                                        \
    NEEDED(cuCtxSetCurrent)                                                                                  \
    NEEDED(cuCtxGetCurrent)                                                                                  \
    NEEDED(cuStreamCreate)                                                                                   \
    NEEDED(cuStreamDestroy)                                                                                  \
    NEEDED(cuStreamQuery)                                                                                    \
    NEEDED(cuStreamSynchronize)                                                                              \
    NEEDED(cuEventCreate)                                                                                    \
    NEEDED(cuEventDestroy)                                                                                   \
    NEEDED(cuEventRecord)                                                                                    \
    NEEDED(cuEventSynchronize)                                                                               \
    NEEDED(cuModuleLoadData)                                                                                 \
    NEEDED(cuModuleUnload)                                                                                   \
    NEEDED(cuModuleGetFunction)                                                                              \
    NEEDED(cuFuncSetAttribute)                                                                               \
    NEEDED(cuFuncGetAttribute)                                                                               \
    NEEDED(cuOccupancyMaxActiveBlocksPerMultiprocessor)                                                      \
    NEEDED(cuLaunchCooperativeKernel)                                                                        \
    NEEDED(cuMemHostRegister)                                                                                \
    NEEDED(cuMemHostUnregister)                                                                              \
    NEEDED(cuMemHostGetDevicePointer)                                                                        \
    NEEDED(cuMemHostAlloc)                                                                                   \
    NEEDED(cuMemFreeHost)                                                                                    \
    NEEDED(cuMemAllocAsync)                                                                                  \
    NEEDED(cuMemFreeAsync)                                                                                   \
    NEEDED(cuDeviceGetDefaultMemPool)                                                                        \
    NEEDED(cuMemPoolSetAttribute)                                                                            \
    NEEDED(cuMemcpyHtoDAsync)                                                                                \
    NEEDED(cuMemcpyDtoHAsync)                                                                                \
    NEEDED(cuMemcpyDtoDAsync)                                                                                \
    NEEDED(cuMemsetD8Async)                                                                                  \
    OPTIONAL(cuCtxGetLimit)                                                                                  \
    OPTIONAL(cuDeviceGetUuid)                                                                                \
    OPTIONAL(cuEventElapsedTime)                                                                             \
    OPTIONAL(cuMemPoolGetAttribute)                                                                          \
    OPTIONAL(cuMemPoolTrimTo)                                                                                \
    OPTIONAL(cuPointerGetAttribute)                                                                          \
    OPTIONAL(cuDeviceCanAccessPeer)                                                                          \
    OPTIONAL(cuDeviceGetP2PAttribute)                                                                        \
    OPTIONAL(cuMemPoolSetAccess)                                                                             \
    OPTIONAL(cuMemcpyPeerAsync)                                                                              \
    OPTIONAL(cuFuncLoad)

#define CUDA_NVRTC_FUNCTIONS(NEEDED)                                                                         \
    NEEDED(nvrtcVersion)                                                                                     \
    NEEDED(nvrtcGetErrorString)                                                                              \
    NEEDED(nvrtcGetNumSupportedArchs)                                                                        \
    NEEDED(nvrtcGetSupportedArchs)                                                                           \
    NEEDED(nvrtcCreateProgram)                                                                               \
    NEEDED(nvrtcCompileProgram)                                                                              \
    NEEDED(nvrtcDestroyProgram)                                                                              \
    NEEDED(nvrtcGetProgramLogSize)                                                                           \
    NEEDED(nvrtcGetProgramLog)                                                                               \
    NEEDED(nvrtcGetCUBINSize)                                                                                \
    NEEDED(nvrtcGetCUBIN)                                                                                    \
    NEEDED(nvrtcGetPTXSize)                                                                                  \
    NEEDED(nvrtcGetPTX)

#define CUDA_MEMBER_(function) __typeof__(function) *function;

/** The driver. `version` is 1000 * major + 10 * minor of the CUDA it offers. */
struct cuda_driver {
    CUDA_DRIVER_FUNCTIONS(CUDA_MEMBER_, CUDA_MEMBER_)
    int version;
    char path[256]; /* of the library in use */
};

/** The compiler. */
struct cuda_nvrtc {
    CUDA_NVRTC_FUNCTIONS(CUDA_MEMBER_)
    int major, minor;
    char path[256];
};

/**
 * Opens the driver, from `path` unless it is "", and calls cuInit. UNAVAILABLE with a sentence (what, where it was looked for, what to
 * install, or the call that failed) when it cannot be used.
 */
gyre_status cuda_driver_open(const gyre_host *host, const char *path, const struct cuda_driver **out);

/**
 * Opens the compiler: from `path` unless it is "", otherwise by the compiler's known names and places.
 * UNAVAILABLE with a sentence when there is none. Needs no driver.
 */
gyre_status cuda_nvrtc_open(const gyre_host *host, const char *path, const struct cuda_nvrtc **out);

/**
 * Writes the paths and environment variables, separated by ':', that decide which libraries the two functions above
 * find; see gyre_probe_info.watch.
 */
void cuda_libraries_watch(char *watch, size_t size);

#endif
