/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on several devices (gyre/spread.h), for those who take clients in or launch what a person names. */
#ifndef GYRE_CORE_API_SPREAD_H
#define GYRE_CORE_API_SPREAD_H

#include "core/plan/build_options.h"
#include "gyre/spread.h"

enum { GYRE_SPREAD_PART_NAME = GYRE_KERNEL_NAME_MAX };

/**
 * Names the part that the next client of a kernel on several devices gets: the parts take turns. NOT_FOUND, without a sentence, when no
 * kernel on several devices has that name; INVALID when its messages go by key, which one part alone would not obey.
 */
gyre_status gyre_spread_turn(gyre_runtime *runtime, const char *name, char part[GYRE_SPREAD_PART_NAME]);

#endif
