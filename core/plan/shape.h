/* SPDX-License-Identifier: Apache-2.0 */
/* How many lanes and blocks a kernel gets. No state, no locks. */
#ifndef GYRE_CORE_PLAN_SHAPE_H
#define GYRE_CORE_PLAN_SHAPE_H

#include "core/config/config.h"
#include "core/dispatch/dispatch.h"

/** Of which kernel, by the name that it is configured under, on which device. */
struct gyre_shape_site {
    const struct gyre_config *config;
    const struct gyre_dispatch *device;
    const gyre_kernel_record *record;
    const char *name;
    uint32_t held; /* blocks that other kernels have of the device */
};

/**
 * *lanes and *blocks are what the program gives, and become what the kernel gets: what is 0 the configuration says, or
 * the device. INVALID with the place of the setting for what the kernel or the device cannot have.
 */
gyre_status gyre_shape_choose(const struct gyre_shape_site *site, uint32_t *lanes, uint32_t *blocks);

/** Whether the kernel's handler keeps something between messages. */
bool gyre_record_keeps_something(const gyre_kernel_record *record);

#endif
