/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds devices through the ICD loader, in the order of the loader and the platforms. One lock guards the
 * list of devices. Creates no object of OpenCL, because the probe uses it, too.
 */
#include "backends/opencl/platforms/opencl_platforms.h"
#include "backends/opencl/opencl_check.h"
#include "backends/opencl/platforms/opencl_pocl.h"
#include "backends/opencl/platforms/opencl_text.h"

#include "gyre/lack.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { PLATFORMS_MAX = 32 };

/*
 * Whether a name matches a pattern: '*' stands for any text, '?' for one character; letters match in either
 * case.
 */
static bool name_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *resume = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            resume = name;
        } else if (*pattern == '?' || tolower((unsigned char)*pattern) == tolower((unsigned char)*name)) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool is_wanted(const struct opencl_loader *cl, const struct opencl_settings *settings,
                      const struct opencl_place *place)
{
    char platform_name[128], device_name[128];
    cl_device_type type = 0;
    opencl_platform_text(cl, place->platform, CL_PLATFORM_NAME, platform_name, sizeof platform_name);
    opencl_device_text(cl, place->device, CL_DEVICE_NAME, device_name, sizeof device_name);
    if (cl->clGetDeviceInfo(place->device, CL_DEVICE_TYPE, sizeof type, &type, NULL) != CL_SUCCESS)
        return false;
    return name_matches(settings->platform, platform_name) && name_matches(settings->device, device_name) &&
           (type & settings->type) != 0;
}

/*
 * All platforms and devices, as first seen. The list is kept because some platforms do not tell their devices
 * a second time.
 */
static struct {
    pthread_mutex_t lock;
    struct opencl_place places[OPENCL_DEVICES_MAX];
    uint32_t platform_count, device_count;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void list_devices(const struct opencl_loader *cl, cl_platform_id platform)
{
    cl_device_id devices[OPENCL_DEVICES_MAX];
    cl_uint count = 0;
    if (cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, OPENCL_DEVICES_MAX, devices, &count) != CL_SUCCESS)
        return;
    for (cl_uint i = 0; i < count && i < OPENCL_DEVICES_MAX && seen.device_count < OPENCL_DEVICES_MAX; i++)
        seen.places[seen.device_count++] = (struct opencl_place){platform, devices[i]};
}

/* Fills the list. The caller holds the lock. */
static gyre_status list_platforms(const gyre_host *host, const struct opencl_loader *cl, bool expendable)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint count = 0;
    if (seen.device_count > 0)
        return GYRE_OK;
    cl_int code = cl->clGetPlatformIDs(PLATFORMS_MAX, platforms, &count);
    if (code != CL_SUCCESS && code != -1001) /* CL_PLATFORM_NOT_FOUND_KHR: none is installed */
        return opencl_check_host(host, code, "clGetPlatformIDs");
    seen.platform_count = code == CL_SUCCESS ? count : 0;
    gyre_status status = GYRE_OK; /* set before any platform is asked: some do not answer a second time */
    for (cl_uint i = 0; status == GYRE_OK && i < seen.platform_count && i < PLATFORMS_MAX; i++)
        status = opencl_pocl_prepare(host, cl, platforms[i], expendable);
    if (status != GYRE_OK)
        return status;
    for (cl_uint i = 0; i < seen.platform_count && i < PLATFORMS_MAX; i++)
        list_devices(cl, platforms[i]);
    return GYRE_OK;
}

static const char *name_type(cl_device_type type)
{
    return type == CL_DEVICE_TYPE_ALL          ? "all"
           : type & CL_DEVICE_TYPE_CPU         ? "cpu"
           : type & CL_DEVICE_TYPE_GPU         ? "gpu"
           : type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                               : "another type";
}

/* Writes the names of all devices as the settings compare them, cut. */
static void tell_devices(const struct opencl_loader *cl, char *text, size_t size)
{
    size_t used = 0;
    for (uint32_t i = 0; i < seen.device_count && used < size; i++) {
        char platform_name[128], device_name[128];
        cl_device_type type = 0;
        opencl_platform_text(cl, seen.places[i].platform, CL_PLATFORM_NAME, platform_name,
                             sizeof platform_name);
        opencl_device_text(cl, seen.places[i].device, CL_DEVICE_NAME, device_name, sizeof device_name);
        cl->clGetDeviceInfo(seen.places[i].device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
        used += (size_t)snprintf(text + used, size - used, "%s'%s' of '%s' (%s)", i ? ", " : "", device_name,
                                 platform_name, name_type(type));
    }
}

/*
 * Refuses a machine without a platform. In the probe's process it also reads the platforms' files once more,
 * for the reason.
 */
static gyre_status refuse_no_platform(const gyre_host *host, bool expendable)
{
    char dropped[512] = "";
    struct rlimit limit;
    if (expendable)
        opencl_dropped_platforms(host, dropped, sizeof dropped);
    if (gyre_lack_addresses_limited() && getrlimit(RLIMIT_AS, &limit) == 0)
        return host->error(
            GYRE_EXHAUSTED,
            "the OpenCL loader works and finds no platform, and this process may have no more than %llu "
            "KiB of addresses, which a platform takes many of: raise that limit (ulimit -v)%s%s",
            (unsigned long long)(limit.rlim_cur / 1024), dropped[0] ? "; " : "", dropped);
    return host->error(
        GYRE_UNAVAILABLE,
        "the OpenCL loader works and finds no platform; install one (Debian, Ubuntu: apt install "
        "pocl-opencl-icd)%s%s%s%s",
        dropped[0] ? ", or mend one of those that " : "; none is named by ", opencl_vendors_path(),
        dropped[0] ? " names; " : "", dropped);
}

/* Refuses a machine whose platforms have no device. */
static gyre_status refuse_nothing(const gyre_host *host, uint32_t platform_count, bool expendable)
{
    const char *chosen = getenv("POCL_DEVICES");
    if (platform_count == 0)
        return refuse_no_platform(host, expendable);
    return host->error(
        GYRE_UNAVAILABLE,
        "the OpenCL loader works and finds %u platform%s without a device; see `clinfo -l`. PoCL "
        "has none when it may not write its cache, or POCL_DEVICES (%s%s%s) names none",
        platform_count, platform_count == 1 ? "" : "s", chosen ? "'" : "not set", chosen ? chosen : "",
        chosen ? "'" : "");
}

static gyre_status refuse_none(const gyre_host *host, const struct opencl_loader *cl, bool expendable,
                               const struct opencl_settings *settings, const struct opencl_places *places)
{
    char there[512] = "", index[16] = "all";
    if (places->device_count == 0)
        return refuse_nothing(host, places->platform_count, expendable);
    if (settings->index >= 0)
        snprintf(index, sizeof index, "%d", settings->index);
    tell_devices(cl, there, sizeof there);
    return host->error(GYRE_UNAVAILABLE,
                       "no OpenCL device is meant by backend.opencl platform = %s, device = %s, type = %s, "
                       "index = %s; there are: %s",
                       settings->platform, settings->device, name_type(settings->type), index, there);
}

gyre_status opencl_places_find(const gyre_host *host, const struct opencl_loader *cl, bool expendable,
                               const struct opencl_settings *settings, struct opencl_places *places)
{
    memset(places, 0, sizeof *places);
    pthread_mutex_lock(&seen.lock);
    gyre_status status = list_platforms(host, cl, expendable);
    places->platform_count = seen.platform_count;
    places->device_count = seen.device_count;
    for (uint32_t i = 0; i < seen.device_count; i++)
        if (is_wanted(cl, settings, &seen.places[i]))
            places->matching[places->matching_count++] = seen.places[i];
    pthread_mutex_unlock(&seen.lock);
    if (status != GYRE_OK)
        return status;
    if (settings->index >= 0) {
        const uint32_t index = (uint32_t)settings->index;
        places->matching[0] = places->matching[index < OPENCL_DEVICES_MAX ? index : 0];
        places->matching_count = index < places->matching_count ? 1 : 0;
    }
    return places->matching_count > 0 ? GYRE_OK : refuse_none(host, cl, expendable, settings, places);
}
