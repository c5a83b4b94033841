/* SPDX-License-Identifier: Apache-2.0 */
/* Who takes part in a collective, and whether their buffers fit together. */
#ifndef GYRE_CORE_API_COLLECT_PARTS_H
#define GYRE_CORE_API_COLLECT_PARTS_H

#include "core/api/collecting.h"

/**
 * Takes the kernels of a descriptor, which is checked. INVALID; CLOSED: one is being released. Until gyre_collect_leave, also behind a
 * failure, none that was taken is freed.
 */
gyre_status gyre_collect_take(const gyre_collect_desc *desc, struct gyre_collecting *all);
void gyre_collect_leave(struct gyre_collecting *all);
/**
 * Checks that the buffers fit together, and how long they are. INVALID. Before the kernels stand, so that a mistake disturbs nobody. They may
 * be changed right behind that, so nothing of the buffers themselves is kept or looked at.
 */
gyre_status gyre_collect_check(struct gyre_collecting *all);
/** While the kernels stand: checks the same once more, and finds the buffers and how their bytes are reached. INVALID. */
gyre_status gyre_collect_find(struct gyre_collecting *all);

#endif
