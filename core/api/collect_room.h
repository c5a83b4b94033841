/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of this program for collectives. It is kept for the next one, because fresh pages take longer than the bytes in them. */
#ifndef GYRE_CORE_API_COLLECT_ROOM_H
#define GYRE_CORE_API_COLLECT_ROOM_H

#include "core/device/runtime.h"

struct gyre_collect_room; /* a runtime's, whose end frees it */

/** Takes room of at least `size` bytes. EXHAUSTED. Owner of *out: the caller, until gyre_collect_room_give. */
gyre_status gyre_collect_room_take(gyre_runtime *runtime, size_t size, struct gyre_collect_room **out);
/** Aligned as a page. */
unsigned char *gyre_collect_room_bytes(const struct gyre_collect_room *room);
/** Accepts NULL. */
void gyre_collect_room_give(gyre_runtime *runtime, struct gyre_collect_room *room);

#endif
