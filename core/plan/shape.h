/* SPDX-License-Identifier: Apache-2.0 */
/* Decides how many lanes and blocks a kernel gets. No state, no locks. */
#ifndef GYRE_CORE_PLAN_SHAPE_H
#define GYRE_CORE_PLAN_SHAPE_H

#include "core/config/config.h"
#include "core/dispatch/dispatch.h"

/** The kernel and the device that a shape (a number of lanes and blocks) is chosen for. */
struct gyre_shape_site {
    const struct gyre_config *config;
    const struct gyre_dispatch *device;
    const gyre_kernel_record *record;
    const char *name;
    uint32_t held; /* blocks of the device that other kernels already use */
};

/**
 * Chooses the kernel's lanes and blocks. On entry *lanes and *blocks are the program's numbers; a 0 is replaced by the
 * configured number, or, if that is 0 too, by the device's. INVALID or CONFIG, with the place of the setting, when the
 * kernel or the device cannot have so many.
 */
gyre_status gyre_shape_choose(const struct gyre_shape_site *site, uint32_t *lanes, uint32_t *blocks);

/** Whether the kernel's handler keeps something between messages: a state, or a buffer that it writes. What a canary counts does not count. */
bool gyre_record_keeps_something(const gyre_kernel_record *record);

#endif
