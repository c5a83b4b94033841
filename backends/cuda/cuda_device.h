/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of the CUDA backend: shared by cuda_device.c and cuda_plugin.c, which probes them. */
#ifndef GYRE_CUDA_DEVICE_H
#define GYRE_CUDA_DEVICE_H

#include "cuda_backend.h"

gyre_status cuda_device_open(const gyre_device_desc *desc, gyre_device **out);
void cuda_device_close(gyre_device *device);
gyre_status cuda_device_info(gyre_device *device, gyre_device_info *info);

/** The number of devices with the setting `device`, of the driver's `count`. */
uint32_t cuda_devices_count(const struct cuda_settings *settings, int count);

/**
 * Fills in what the driver says about device->ordinal, without a context. INVALID or UNAVAILABLE when there
 * is no such device or it cannot run resident kernels.
 */
gyre_status cuda_device_describe(gyre_device *device);

/* ---- cuda_visible.c ---- */

/** The word at a place of a list with commas, and its length; NULL when it is empty or there is none. */
const char *cuda_devices_word(const char *list, uint32_t place, size_t *length);
/**
 * Before the driver is opened: makes device `ordinal` of the setting `device` the only one that the driver will see, by
 * CUDA_VISIBLE_DEVICES of this process. False, and nothing is changed, where it is not sure which device that is.
 */
bool cuda_show_one(const struct cuda_settings *settings, uint32_t ordinal);

/* ---- cuda_describe.c: for people ---- */

/** "580.159.03"; "" when it is not to be found. */
void cuda_driver_release(char *release, size_t size);
/** "PCIe 32.0 GT/s x16", or "". */
void cuda_describe_link(const gyre_device *device, char *text, size_t size);
/** Writes capability, link, driver and identity of a described device, and its limits, or "". */
void cuda_describe_details(const gyre_device *device, char *text, size_t size);
void cuda_describe_limits(const gyre_device *device, char *text, size_t size);

#endif
