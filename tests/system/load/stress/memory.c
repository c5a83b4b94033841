/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory this process and its GPU hold. The GPU's driver is asked only when a backend brought it
 * into the process: this program needs none.
 */
#include "stress.h"
#include "tests/sanitizers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

uint64_t resident_kib(void)
{
    unsigned long long kibibytes = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");
    require(file != NULL);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %llu kB", &kibibytes) == 1)
            break;
    fclose(file);
    return kibibytes;
}

/* Sanitizers keep freed memory for a while, so it proves nothing there; leaks are theirs to find. */
bool memory_tells(void)
{
    return UNDER_ADDRESS_SANITIZER + UNDER_THREAD_SANITIZER == 0;
}

/* The few calls of CUDA's driver that this takes; 0 is success in all. */
struct driver {
    int (*device_get)(int *device, int ordinal);
    int (*context_retain)(void **context, int device);
    int (*context_set)(void *context);
    int (*memory_info)(size_t *free, size_t *total);
};

static bool find(void *library, const char *name, void *slot)
{
    void *address = dlsym(library, name);
    memcpy(slot, &address, sizeof address);
    return address != NULL;
}

/* Makes the context that the backend uses, the device's primary one, current in this thread. */
static bool enter(struct driver *driver)
{
    static _Thread_local bool entered;
    int device;
    void *context;
    if (!entered)
        entered = driver->device_get(&device, 0) == 0 && driver->context_retain(&context, device) == 0 &&
                  driver->context_set(context) == 0;
    return entered;
}

uint64_t device_memory_used_kib(void)
{
    struct driver driver;
    size_t free_bytes = 0, total = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        return 0;
    if (!find(library, "cuDeviceGet", &driver.device_get) ||
        !find(library, "cuDevicePrimaryCtxRetain", &driver.context_retain) ||
        !find(library, "cuCtxSetCurrent", &driver.context_set) ||
        !find(library, "cuMemGetInfo_v2", &driver.memory_info) || !enter(&driver) ||
        driver.memory_info(&free_bytes, &total) != 0)
        return 0;
    return (total - free_bytes) / 1024;
}
