/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a device for what a collective may have to bring back. One piece a device is kept for the next collective, because memory that
 * is fresh takes longer than the sums.
 */
#ifndef GYRE_CORE_API_COLLECT_ASIDE_H
#define GYRE_CORE_API_COLLECT_ASIDE_H

#include "core/dispatch/dispatch.h"
#include "gyre/gyre.h"

struct gyre_collect_aside; /* a runtime's, whose end frees it */

/** Takes memory of at least `size` bytes. EXHAUSTED. Owner of *out: the caller, until gyre_collect_aside_give. */
gyre_status gyre_collect_aside_take(gyre_runtime *runtime, struct gyre_dispatch *device, uint64_t size,
                                    struct gyre_collect_aside **out);
gyre_memory *gyre_collect_aside_memory(const struct gyre_collect_aside *aside);
/** Accepts NULL. */
void gyre_collect_aside_give(gyre_runtime *runtime, struct gyre_collect_aside *aside);

#endif
