/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of all platforms, and the devices among them that the settings name. Private to this folder. */
#ifndef GYRE_OPENCL_PLATFORMS_H
#define GYRE_OPENCL_PLATFORMS_H

#include "opencl_backend.h"

enum { OPENCL_DEVICES_MAX = 64 };

struct opencl_place {
    cl_platform_id platform;
    cl_device_id device;
};

/** The result of a search. */
struct opencl_places {
    struct opencl_place matching[OPENCL_DEVICES_MAX]; /* Gyre's devices 0, 1, ... */
    uint32_t matching_count;
    uint32_t platform_count, device_count; /* that there are at all */
};

/**
 * UNAVAILABLE when there is no platform or no device at all, or none that the settings name; EXHAUSTED when there is no
 * platform where addresses are limited; and, unless this process
 * may end (`expendable`), when a platform would end it.
 */
gyre_status opencl_places_find(const gyre_host *host, const struct opencl_loader *cl, bool expendable,
                               const struct opencl_settings *settings, struct opencl_places *places);

/**
 * The .icd files that the loader dropped without a word, each with the reason, cut; "" when there are
 * none. Loads the libraries that they name: for the probe, which runs in a process of its own.
 */
void opencl_dropped_platforms(const gyre_host *host, char *text, size_t size);
/** The folder or file that the loader reads, for `watch`. */
const char *opencl_vendors_path(void);

#endif
