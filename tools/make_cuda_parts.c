/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run while Gyre is built: makes the parts (cuda_parts.h) for the architectures that are named, or for each that the NVRTC
 * of this machine knows. Where there is none it says so and makes none: kernels are compiled whole then.
 *
 * usage: gyre-cuda-parts FOLDER INCLUDE_FOLDER [sm_90,...]
 */
#include "backends/cuda/compile/cuda_parts.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARCHITECTURES_MAX = 64 };

__attribute__((format(printf, 2, 3))) static gyre_status say(gyre_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("parts of CUDA kernels: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    return status;
}

static gyre_status open_library(const char *path, void **out)
{
    *out = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *out ? GYRE_OK : GYRE_NOT_FOUND;
}

static gyre_status find_symbol(void *library, const char *name, void **out)
{
    *out = dlsym(library, name);
    return *out ? GYRE_OK : GYRE_NOT_FOUND;
}

static uint64_t no_time(void)
{
    return 0;
}

static const gyre_host host = {.size = sizeof host,
                               .error = say,
                               .library_open = open_library,
                               .library_symbol = find_symbol,
                               .now_ns = no_time};

static gyre_status make_one(int architecture, const char *include_folder, const char *folder)
{
    gyre_device device = {.host = &host};
    snprintf(device.architecture, sizeof device.architecture, "sm_%d", architecture);
    return cuda_parts_make(&device, include_folder, folder);
}

/* True when the list, as in sm_80,sm_90, has the architecture. */
static bool is_in(const char *list, int architecture)
{
    char name[16];
    const size_t length = (size_t)snprintf(name, sizeof name, "sm_%d", architecture);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

int main(int count, char **arguments)
{
    const struct cuda_nvrtc *nvrtc;
    int known[ARCHITECTURES_MAX], known_count = 0;
    if (count != 3 && count != 4) {
        fprintf(stderr, "usage: gyre-cuda-parts FOLDER INCLUDE_FOLDER [sm_90,...]\n");
        return 2;
    }
    if (cuda_nvrtc_open(&host, "", &nvrtc) != GYRE_OK)
        return EXIT_SUCCESS;
    if (nvrtc->nvrtcGetNumSupportedArchs(&known_count) != NVRTC_SUCCESS || known_count > ARCHITECTURES_MAX ||
        nvrtc->nvrtcGetSupportedArchs(known) != NVRTC_SUCCESS) {
        say(GYRE_FAILED, "'%s' does not say which architectures it knows", nvrtc->path);
        return EXIT_FAILURE;
    }
    for (int i = 0; i < known_count; i++)
        if ((count == 3 || is_in(arguments[3], known[i])) &&
            make_one(known[i], arguments[2], arguments[1]) != GYRE_OK)
            return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
