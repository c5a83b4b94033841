/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies the driver's answers by one table (cuda_failure.h says what the classes mean). The table is
 * constant. Takes no lock, and sleeps only in cuda_again.
 */
#include "backends/cuda/cuda_failure.h"

#include <stddef.h>
#include <time.h>

enum { TRIES_MAX = 8, FIRST_PAUSE_MS = 1 }; /* pauses of 1, 2, ... 128 ms: 255 ms in all */

/*
 * Fatal: after such an answer every later call fails with the same error, in this context and in every other
 * context of the process. (Measured: after a kernel trapped, cuCtxCreate fails even when the old context was
 * destroyed.)
 */
static const struct {
    CUresult result;
    enum cuda_class class;
    gyre_status status;
} known[] = {
    {CUDA_SUCCESS, CUDA_CLASS_SUCCESS, GYRE_OK},

    {CUDA_ERROR_NOT_READY, CUDA_CLASS_TRANSIENT, GYRE_EXHAUSTED},
    {CUDA_ERROR_ALREADY_ACQUIRED, CUDA_CLASS_TRANSIENT, GYRE_EXHAUSTED},
    {CUDA_ERROR_SYSTEM_NOT_READY, CUDA_CLASS_TRANSIENT, GYRE_EXHAUSTED},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, CUDA_CLASS_TRANSIENT, GYRE_EXHAUSTED},
    {CUDA_ERROR_MPS_CONNECTION_FAILED, CUDA_CLASS_TRANSIENT, GYRE_EXHAUSTED},
    {CUDA_ERROR_MPS_SERVER_NOT_READY, CUDA_CLASS_TRANSIENT, GYRE_EXHAUSTED},

    {CUDA_ERROR_OUT_OF_MEMORY, CUDA_CLASS_RESOURCE, GYRE_EXHAUSTED},
    {CUDA_ERROR_MAP_FAILED, CUDA_CLASS_RESOURCE, GYRE_EXHAUSTED},

    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_CLASS_PROGRAMMER, GYRE_INVALID},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_CLASS_PROGRAMMER, GYRE_INVALID},
    {CUDA_ERROR_INVALID_IMAGE, CUDA_CLASS_PROGRAMMER, GYRE_INVALID},
    {CUDA_ERROR_INVALID_SOURCE, CUDA_CLASS_PROGRAMMER, GYRE_INVALID},
    {CUDA_ERROR_INVALID_PTX, CUDA_CLASS_PROGRAMMER, GYRE_INVALID},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_CLASS_PROGRAMMER, GYRE_INVALID},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_CLASS_PROGRAMMER, GYRE_INVALID},
    {CUDA_ERROR_NO_DEVICE, CUDA_CLASS_PROGRAMMER, GYRE_UNAVAILABLE},
    {CUDA_ERROR_INVALID_DEVICE, CUDA_CLASS_PROGRAMMER, GYRE_UNAVAILABLE},
    {CUDA_ERROR_NOT_SUPPORTED, CUDA_CLASS_PROGRAMMER, GYRE_UNAVAILABLE},
    {CUDA_ERROR_NOT_PERMITTED, CUDA_CLASS_PROGRAMMER, GYRE_UNAVAILABLE},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, CUDA_CLASS_PROGRAMMER, GYRE_UNAVAILABLE},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, CUDA_CLASS_PROGRAMMER, GYRE_UNAVAILABLE},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, CUDA_CLASS_PROGRAMMER, GYRE_UNAVAILABLE},

    {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_ASSERT, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_INVALID_PC, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_LAUNCH_FAILED, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_DEINITIALIZED, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_EXTERNAL_DEVICE, CUDA_CLASS_FATAL, GYRE_LOST},
    {CUDA_ERROR_UNKNOWN, CUDA_CLASS_FATAL, GYRE_LOST},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static size_t find_failure(CUresult result)
{
    size_t place = 0;
    while (place < KNOWN && known[place].result != result)
        place++;
    return place;
}

enum cuda_class cuda_class_of(CUresult result)
{
    const size_t place = find_failure(result);
    return place < KNOWN ? known[place].class : CUDA_CLASS_PROGRAMMER;
}

gyre_status cuda_status_of(CUresult result)
{
    const size_t place = find_failure(result);
    return place < KNOWN ? known[place].status : GYRE_INTERNAL;
}

const char *cuda_advice_for(CUresult result)
{
    switch (cuda_class_of(result)) {
    case CUDA_CLASS_TRANSIENT:
        return "; it was tried for a quarter of a second: "
               "something is starting or another process has the device, try again";
    case CUDA_CLASS_RESOURCE:
        return "; free some: `nvidia-smi` shows which processes have the device's memory";
    case CUDA_CLASS_PROGRAMMER:
        return cuda_status_of(result) == GYRE_INTERNAL
                   ? "; this call should not have been made: please report it"
                   : "";
    default:
        return "";
    }
}

bool cuda_again(struct cuda_retry *retry, CUresult result)
{
    if (result == CUDA_SUCCESS || cuda_class_of(result) != CUDA_CLASS_TRANSIENT || retry->tries == TRIES_MAX)
        return false;
    const long pause_ms = (long)FIRST_PAUSE_MS << retry->tries++;
    nanosleep(&(struct timespec){0, pause_ms * 1000000}, NULL);
    return true;
}
