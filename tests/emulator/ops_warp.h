/* SPDX-License-Identifier: Apache-2.0 */
/* Meeting of lanes. Private to the files ops_*.c. */
#ifndef GYRE_TESTS_EMULATOR_OPS_WARP_H
#define GYRE_TESTS_EMULATOR_OPS_WARP_H

#include "ops.h"

#include <string.h>

/**
 * The lanes that execute the instruction together: those of `mask` with the same members, when all members that live
 * are here; 0 when they wait. Afterwards the path that runs is these lanes and nothing else.
 */
uint32_t warp_gather(struct warp *warp, const struct instruction *i, uint32_t mask, const uint64_t *members);

#endif
