/* SPDX-License-Identifier: Apache-2.0 */
/* Who hands out replies beside the pump. Private to this folder; all but the thread itself is the pump's to call. */
#ifndef GYRE_OPENCL_COURIER_H
#define GYRE_OPENCL_COURIER_H

#include "opencl_epoch.h"

/** Where there is none, or it cannot be started, the pump goes without. */
void opencl_courier_start(gyre_resident *resident);
/** No epoch is under way. Also where there is none. */
void opencl_courier_end(gyre_resident *resident);
/** The epoch, whose kernel is enqueued, is the courier's from here on, if it is worth it. */
void opencl_courier_give(gyre_resident *resident, struct opencl_epoch *epoch);
/** Whether the epoch's replies are the courier's still. Acquire: if not, what it wrote is seen. */
bool opencl_courier_has(const struct opencl_epoch *epoch);
/** Takes an epoch back whose kernel has ended: waits for moments. Also of one that it never had. */
void opencl_courier_recall(struct opencl_epoch *epoch);

#endif
