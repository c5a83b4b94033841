/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls the vendor's linker of device code (nvJitLink), opened at run time. Its few functions are declared
 * here, because only newer toolkits have its header. One lock is held while the table of functions is made;
 * afterwards the table is constant. A failure is not kept: a library that is missing now may be installed
 * later.
 */
#include "backends/cuda/compile/cuda_parts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINK_OK = 0, LINK_INPUT_CUBIN = 1 };

typedef struct link_job *link_handle;

static struct {
    int (*create)(link_handle *handle, uint32_t count, const char **options);
    int (*destroy)(link_handle *handle);
    int (*add)(link_handle handle, int kind, const void *bytes, size_t size, const char *name);
    int (*complete)(link_handle handle);
    int (*result_size)(link_handle handle, size_t *size);
    int (*result)(link_handle handle, void *bytes);
    int (*log_size)(link_handle handle, size_t *size);
    int (*log)(link_handle handle, char *text);
} linker;

static const struct {
    const char *name;
    void *slot;
} symbols[] = {{"nvJitLinkCreate", &linker.create},
               {"nvJitLinkDestroy", &linker.destroy},
               {"nvJitLinkAddData", &linker.add},
               {"nvJitLinkComplete", &linker.complete},
               {"nvJitLinkGetLinkedCubinSize", &linker.result_size},
               {"nvJitLinkGetLinkedCubin", &linker.result},
               {"nvJitLinkGetErrorLogSize", &linker.log_size},
               {"nvJitLinkGetErrorLog", &linker.log}};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool ready;

/* Opens the linker's library. Looks beside NVRTC first, because the two belong together. */
static gyre_status open_library(const gyre_host *host, const struct cuda_nvrtc *nvrtc, void **library)
{
    char path[sizeof nvrtc->path + 32];
    const char *slash = strrchr(nvrtc->path, '/');
    const int folder = slash ? (int)(slash - nvrtc->path) + 1 : 0;
    snprintf(path, sizeof path, "%.*slibnvJitLink.so.%d", folder, nvrtc->path, nvrtc->major);
    if (host->library_open(path, library) == GYRE_OK)
        return GYRE_OK;
    return host->library_open(path + folder, library);
}

static gyre_status open_linker(const gyre_host *host, const struct cuda_nvrtc *nvrtc)
{
    void *library;
    gyre_status status = open_library(host, nvrtc, &library);
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0] && status == GYRE_OK; i++) {
        void *address = NULL;
        status = host->library_symbol(library, symbols[i].name, &address);
        memcpy(symbols[i].slot, &address, sizeof address);
    }
    return status == GYRE_OK ? status
                             : host->error(GYRE_UNAVAILABLE, "there is no nvJitLink for NVRTC %d.%d",
                                           nvrtc->major, nvrtc->minor);
}

static gyre_status need_linker(const gyre_host *host, const struct cuda_nvrtc *nvrtc)
{
    pthread_mutex_lock(&lock);
    gyre_status status = ready ? GYRE_OK : open_linker(host, nvrtc);
    ready = status == GYRE_OK;
    pthread_mutex_unlock(&lock);
    return status;
}

static gyre_status explain_link(const gyre_host *host, link_handle handle, int result)
{
    size_t size = 0;
    char text[512] = "";
    char *log = handle && linker.log_size(handle, &size) == LINK_OK ? calloc(1, size + 1) : NULL;
    if (log && linker.log(handle, log) == LINK_OK)
        snprintf(text, sizeof text, "%s", log);
    free(log);
    return host->error(GYRE_FAILED, "nvJitLink failed with %d: %s", result, text);
}

static int take_result(link_handle handle, struct cuda_image *out)
{
    size_t size = 0;
    int result = linker.result_size(handle, &size);
    void *bytes = result == LINK_OK ? calloc(1, size + 1) : NULL;
    if (!bytes)
        return result == LINK_OK ? -1 : result;
    result = linker.result(handle, bytes);
    if (result == LINK_OK)
        *out = (struct cuda_image){bytes, size};
    else
        free(bytes);
    return result;
}

gyre_status cuda_link(const gyre_host *host, const struct cuda_nvrtc *nvrtc, const char *sm,
                      const struct cuda_image *kernel, const struct cuda_image *parts, struct cuda_image *out)
{
    char architecture[48];
    const char *options[] = {architecture};
    link_handle handle = NULL;
    gyre_status status = need_linker(host, nvrtc);
    if (status != GYRE_OK)
        return status;
    snprintf(architecture, sizeof architecture, "-arch=%s", sm);
    int result = linker.create(&handle, 1, options);
    if (result == LINK_OK)
        result = linker.add(handle, LINK_INPUT_CUBIN, kernel->bytes, kernel->size, "kernel");
    if (result == LINK_OK)
        result = linker.add(handle, LINK_INPUT_CUBIN, parts->bytes, parts->size, "parts");
    if (result == LINK_OK)
        result = linker.complete(handle);
    if (result == LINK_OK)
        result = take_result(handle, out);
    if (result != LINK_OK)
        status = explain_link(host, handle, result);
    if (handle)
        linker.destroy(&handle);
    return status;
}
