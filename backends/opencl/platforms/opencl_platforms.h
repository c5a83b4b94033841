/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of all platforms, and which of them the settings select. Private to this folder. */
#ifndef GYRE_OPENCL_PLATFORMS_H
#define GYRE_OPENCL_PLATFORMS_H

#include "backends/opencl/opencl_backend.h"

enum { OPENCL_DEVICES_MAX = 64 };

struct opencl_place {
    cl_platform_id platform;
    cl_device_id device;
};

/** What a search found. */
struct opencl_places {
    struct opencl_place matching[OPENCL_DEVICES_MAX]; /* Gyre's devices 0, 1, ... */
    uint32_t matching_count;
    uint32_t platform_count, device_count; /* of the machine, whatever the settings select */
};

/**
 * Finds the devices that the settings select. UNAVAILABLE when there is no platform, no device, or no
 * selected device; also when a platform would end this process, unless the process may end (`expendable`).
 * EXHAUSTED when there is no platform in a process whose address space is limited.
 */
gyre_status opencl_places_find(const gyre_host *host, const struct opencl_loader *cl, bool expendable,
                               const struct opencl_settings *settings, struct opencl_places *places);

/**
 * Writes the .icd files that the loader dropped without a word, each with the reason, cut; "" when there are
 * none. Loads the libraries that they name, so only the probe calls it, in a process of its own.
 */
void opencl_dropped_platforms(const gyre_host *host, char *text, size_t size);
/** The folder or file of .icd files that the loader reads, for `watch`. */
const char *opencl_vendors_path(void);

#endif
