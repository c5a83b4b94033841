/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives that the devices make by themselves, where all of them reach each other's memory. The kernels stand, except in _prepare. */
#ifndef GYRE_CORE_API_COLLECT_DEVICES_H
#define GYRE_CORE_API_COLLECT_DEVICES_H

#include "core/api/collecting.h"

/**
 * Makes the devices ready, before the kernels stand; no effect where the bytes go through this program in any case. A failure is
 * none of the collective.
 */
void gyre_collect_devices_prepare(struct gyre_collecting *all);
/** Whether the devices make this collective. Behind gyre_collect_find. */
bool gyre_collect_by_devices(const struct gyre_collecting *all);
/**
 * Makes room on the devices for what was before, until gyre_collect_devices_end. False, and nothing is taken: a device has none, and the
 * bytes go through this program. Nothing is written yet.
 */
bool gyre_collect_devices_room(struct gyre_collecting *all);
/**
 * Behind gyre_collect_devices_room: writes the result into all buffers that get it, with what was before aside on their devices. Fails with
 * all buffers as they were: TIMEOUT, else as the backend says.
 */
gyre_status gyre_collect_devices_write(struct gyre_collecting *all);
/** Puts back what was before, behind a gyre_collect_devices_write that succeeded. The calling thread's error stays. */
void gyre_collect_devices_put_back(struct gyre_collecting *all);
/** Gives the room for what was before back. */
void gyre_collect_devices_end(struct gyre_collecting *all);

#endif
