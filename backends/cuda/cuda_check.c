/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns failed driver calls into statuses with sentences. The device keeps the first failure that nothing
 * recovers from, so that every later call reports the cause and not a consequence of it. Lock: lost_lock,
 * innermost. This file never retries a call: its callers know which calls may be retried (cuda_failure.h).
 */
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/cuda_failure.h"

#include <stdio.h>

static void describe_failure(const struct cuda_driver *driver, CUresult result, const char *call, char *text,
                             size_t size)
{
    const char *name = NULL, *words = NULL;
    driver->cuGetErrorName(result, &name);
    driver->cuGetErrorString(result, &words);
    snprintf(text, size, "%s failed with %d (%s: %s)", call, (int)result, name ? name : "unknown",
             words ? words : "no text");
}

static void log_line(const gyre_device *device, gyre_log_level level, const char *text, const char *what)
{
    char line[512];
    snprintf(line, sizeof line, "device '%.100s': %s; %s", device->name, text, what);
    device->host->log(device->host->context, level, line);
}

/* Marks the device as lost. The first caller's text stays. */
static void lose_device(gyre_device *device, CUresult result, const char *call)
{
    char text[256];
    describe_failure(device->driver, result, call, text, sizeof text);
    pthread_mutex_lock(&device->lost_lock);
    const bool first = !atomic_load_explicit(&device->lost, memory_order_relaxed);
    if (first) {
        snprintf(device->lost_why, sizeof device->lost_why, "%.34s failed with %d", call, (int)result);
        snprintf(device->lost_text, sizeof device->lost_text, "%s", text);
        /* release: pairs with the acquire in cuda_lost, which reads the text afterwards */
        atomic_store_explicit(&device->lost, true, memory_order_release);
    }
    pthread_mutex_unlock(&device->lost_lock);
    if (first)
        log_line(device, GYRE_LOG_ERROR, text, "it does not work any more in this process");
}

gyre_status cuda_lost(gyre_device *device)
{
    if (!atomic_load_explicit(&device->lost, memory_order_acquire))
        return GYRE_OK;
    return device->host->error(
        GYRE_LOST, "the device '%s' does not work any more in this process: %s; start the program again",
        device->name, device->lost_text);
}

gyre_status cuda_check_end(gyre_device *device, CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return GYRE_OK;
    lose_device(device, result, call);
    return cuda_lost(device);
}

void cuda_note(gyre_device *device, CUresult result, const char *call)
{
    if (cuda_class_of(result) == CUDA_CLASS_FATAL)
        lose_device(device, result, call);
}

void cuda_tell(gyre_device *device, CUresult result, const char *call, const char *what)
{
    char text[256];
    cuda_note(device, result, call);
    if (result == CUDA_SUCCESS || atomic_load_explicit(&device->lost, memory_order_acquire))
        return;
    describe_failure(device->driver, result, call, text, sizeof text);
    log_line(device, GYRE_LOG_WARNING, text, what);
}

void cuda_check_gone(gyre_device *device, CUresult result, const char *call)
{
    cuda_tell(device, result, call, "what was to be given back stays taken as long as the program runs");
}

gyre_status cuda_check(gyre_device *device, CUresult result, const char *call)
{
    char text[256];
    if (result == CUDA_SUCCESS)
        return GYRE_OK;
    if (cuda_lost(device) != GYRE_OK)
        return GYRE_LOST;
    describe_failure(device->driver, result, call, text, sizeof text);
    gyre_status status = cuda_status_of(result);
    if (status != GYRE_LOST)
        return device->host->error(status, "device '%s': %s%s", device->name, text, cuda_advice_for(result));
    lose_device(device, result, call);
    return cuda_lost(device);
}

gyre_status cuda_check_host(const gyre_host *host, const struct cuda_driver *driver, CUresult result,
                            const char *call)
{
    char text[256];
    if (result == CUDA_SUCCESS)
        return GYRE_OK;
    describe_failure(driver, result, call, text, sizeof text);
    return host->error(cuda_status_of(result), "%s%s", text, cuda_advice_for(result));
}

gyre_status cuda_compile_only(const gyre_device *device, const char *what)
{
    return device->host->error(GYRE_UNAVAILABLE,
                               "%s needs a GPU: this device only compiles, "
                               "as backend.cuda.compile_for = %s says; set it to `device`",
                               what, device->architecture);
}
