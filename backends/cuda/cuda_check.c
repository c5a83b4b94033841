/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a failed driver call means. The first failure that nothing recovers from is kept in the device, so
 * that every later call tells the cause and not its consequence. Lock: lost_lock, innermost. Must not retry:
 * the callers know where that can help.
 */
#include "cuda_backend.h"

#include <stdio.h>

/*
 * After these the context, in truth the whole process, answers every call with the same error (measured: a
 * trapped kernel makes cuCtxCreate fail also after the old context was destroyed).
 */
static bool is_fatal(CUresult result)
{
    switch ((int)result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_UNKNOWN:
        return true;
    default:
        return false;
    }
}

static gyre_status classify(CUresult result)
{
    if (is_fatal(result))
        return GYRE_LOST;
    switch ((int)result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_ALREADY_ACQUIRED:
    case CUDA_ERROR_NOT_READY:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_MAP_FAILED:
        return GYRE_EXHAUSTED;
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        return GYRE_INVALID;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_NOT_PERMITTED:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
        return GYRE_UNAVAILABLE;
    default:
        return GYRE_INTERNAL;
    }
}

static void describe(const struct cuda_driver *driver, CUresult result, const char *call, char *text,
                     size_t size)
{
    const char *name = NULL, *words = NULL;
    driver->cuGetErrorName(result, &name);
    driver->cuGetErrorString(result, &words);
    snprintf(text, size, "%s failed with %d (%s: %s)", call, (int)result, name ? name : "unknown",
             words ? words : "no text");
}

/* The first caller's text stays. */
static void lose(gyre_device *device, const char *text)
{
    pthread_mutex_lock(&device->lost_lock);
    if (!atomic_load_explicit(&device->lost, memory_order_relaxed)) {
        snprintf(device->lost_text, sizeof device->lost_text, "%s", text);
        /* release: pairs with the acquire in cuda_lost, which reads the text afterwards */
        atomic_store_explicit(&device->lost, true, memory_order_release);
    }
    pthread_mutex_unlock(&device->lost_lock);
}

gyre_status cuda_lost(gyre_device *device)
{
    if (!atomic_load_explicit(&device->lost, memory_order_acquire))
        return GYRE_OK;
    return device->host->error(
        GYRE_LOST,
        "the device '%s' does not work any more in this process: %s; start the program "
        "again",
        device->name, device->lost_text);
}

gyre_status cuda_check(gyre_device *device, CUresult result, const char *call)
{
    char text[256];
    if (result == CUDA_SUCCESS)
        return GYRE_OK;
    if (cuda_lost(device) != GYRE_OK)
        return GYRE_LOST;
    describe(device->driver, result, call, text, sizeof text);
    gyre_status status = classify(result);
    if (status != GYRE_LOST)
        return device->host->error(status, "device '%s': %s", device->name, text);
    lose(device, text);
    return cuda_lost(device);
}

gyre_status cuda_check_host(const gyre_host *host, const struct cuda_driver *driver, CUresult result,
                            const char *call)
{
    char text[256];
    if (result == CUDA_SUCCESS)
        return GYRE_OK;
    describe(driver, result, call, text, sizeof text);
    return host->error(classify(result), "%s", text);
}

gyre_status cuda_compile_only(const gyre_device *device, const char *what)
{
    return device->host->error(GYRE_UNAVAILABLE,
                               "%s needs a GPU: this device only compiles, as backend.cuda.compile_for = %s "
                               "says; set it to `device`",
                               what, device->architecture);
}
