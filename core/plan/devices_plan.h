/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices a kernel is configured for: the setting `device` of [kernel.NAME]. No state, no locks. */
#ifndef GYRE_CORE_PLAN_DEVICES_PLAN_H
#define GYRE_CORE_PLAN_DEVICES_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/config/config.h"
#include "core/plan/build_options.h"
#include "gyre/spread.h"

/** A list of ordinals, each once. */
struct gyre_device_list {
    uint32_t count;
    uint32_t devices[GYRE_SPREAD_DEVICES_MAX];
};

/** Reads the setting. count 0: it is not set. CONFIG with its place when it is no list of device numbers, each once. */
gyre_status gyre_devices_configured(const struct gyre_config *config, const char *kernel,
                                    struct gyre_device_list *out);
/** INVALID unless the ordinals are 1 to GYRE_SPREAD_DEVICES_MAX, each once. `kernel`: for the sentence. */
gyre_status gyre_devices_check(const char *kernel, const uint32_t *devices, uint32_t count);

/** The name by which a descriptor's kernel is configured, as far as that is known before the kernel is built. */
void gyre_devices_name(const gyre_launch_desc *launch, char name[GYRE_KERNEL_NAME_MAX]);
/** Whether that kernel is configured for several devices. */
bool gyre_devices_are_several(const struct gyre_config *config, const gyre_launch_desc *launch);

/**
 * The device for a launch on one device. *ordinal: what the program asks for; 0 becomes the configured device. INVALID when several are
 * configured and the program names none of them. The parts NAME#DEVICE of a kernel on several devices take what they ask for.
 */
gyre_status gyre_devices_choose_one(const struct gyre_config *config, const char *kernel, uint32_t *ordinal);

#endif
