/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices of the CUDA backend: how many there are, which of them the driver sees, and their description.
 * cuda_device.c and cuda_plugin.c (the probe) use it; cuda_visible.c and cuda_describe.c define the functions
 * under their names.
 */
#ifndef GYRE_CUDA_DEVICE_H
#define GYRE_CUDA_DEVICE_H

#include "backends/cuda/cuda_backend.h"

gyre_status cuda_device_open(const gyre_device_desc *desc, gyre_device **out);
void cuda_device_close(gyre_device *device);
gyre_status cuda_device_info(gyre_device *device, gyre_device_info *info);

/** The number of devices that the setting `device` selects from the `count` devices of the driver. */
uint32_t cuda_devices_count(const struct cuda_settings *settings, int count);

/**
 * Fills in what the driver says about device->ordinal. Makes no context. INVALID or UNAVAILABLE if
 * there is no such device; UNAVAILABLE if it cannot run resident kernels.
 */
gyre_status cuda_device_describe(gyre_device *device);

/* ---- cuda_visible.c ---- */

/**
 * The word number `place` of a list with commas, and its length. NULL when that word is empty or the list has
 * fewer words.
 */
const char *cuda_devices_word(const char *list, uint32_t place, size_t *length);
/**
 * Called before the driver is opened. Makes device `ordinal` of the setting `device` the only device that the
 * driver will see, by setting CUDA_VISIBLE_DEVICES of this process. Returns false and changes nothing when it
 * is not certain which device is meant.
 */
bool cuda_show_one(const struct cuda_settings *settings, uint32_t ordinal);

/* ---- cuda_describe.c: for people ---- */

/** Writes the driver's release, for example "580.159.03"; "" when it is not found. */
void cuda_driver_release(char *release, size_t size);
/** Writes the device's link, for example "PCIe 32.0 GT/s x16", or "". */
void cuda_describe_link(const gyre_device *device, char *text, size_t size);
/** Writes the capability, link, driver, identity and limits of a described device, or "". */
void cuda_describe_details(const gyre_device *device, char *text, size_t size);
void cuda_describe_limits(const gyre_device *device, char *text, size_t size);

#endif
