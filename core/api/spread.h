/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on several devices (gyre/spread.h), for those who take clients in or launch what a person names. */
#ifndef GYRE_CORE_API_SPREAD_H
#define GYRE_CORE_API_SPREAD_H

#include <stdbool.h>

#include "core/plan/build_options.h"
#include "gyre/spread.h"

enum { GYRE_SPREAD_PART_NAME = GYRE_KERNEL_NAME_MAX };

/** Where the messages of a kernel on several devices go. */
struct gyre_spread_view {
    gyre_shard_rule rule;
    char key[128]; /* the field of the request that GYRE_SHARD_KEY goes by; else "" */
    uint32_t count;
    uint32_t devices[GYRE_SPREAD_DEVICES_MAX]; /* the parts are NAME#DEVICE, in this order */
};

/** False when no kernel on several devices has that name. */
bool gyre_spread_view_get(gyre_runtime *runtime, const char *name, struct gyre_spread_view *out);

/**
 * Names the part that a client of a kernel on several devices gets. A client with a name gets the part that its name says, always the
 * same one with the same number of devices, since what is kept for that name is kept there; those without (`client` "") get the parts
 * in turns. NOT_FOUND, without a sentence, when no
 * kernel on several devices has that name; INVALID when its messages go by key, which one part alone would not obey.
 */
gyre_status gyre_spread_turn(gyre_runtime *runtime, const char *name, const char *client,
                             char part[GYRE_SPREAD_PART_NAME]);

#endif
