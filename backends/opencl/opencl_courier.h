/* SPDX-License-Identifier: Apache-2.0 */
/* The courier: a second thread of a kernel, which hands out replies beside the pump. The pump calls. Private to this folder. */
#ifndef GYRE_OPENCL_COURIER_H
#define GYRE_OPENCL_COURIER_H

#include "opencl_epoch.h"

/** Starts the courier, if the settings want one. The pump goes without a courier that cannot be started. */
void opencl_courier_start(gyre_resident *resident);
/** Ends the courier, if there is one, while no epoch is under way. */
void opencl_courier_end(gyre_resident *resident);
/** Gives an epoch whose kernel is enqueued to the courier, if it is worth it. */
void opencl_courier_give(gyre_resident *resident, struct opencl_epoch *epoch);
/** Whether the courier has the epoch's replies still. Acquire: if not, the caller sees what the courier wrote. */
bool opencl_courier_has(const struct opencl_epoch *epoch);
/** Takes an epoch back whose kernel has ended, or that the courier never had. Waits for moments. */
void opencl_courier_recall(struct opencl_epoch *epoch);

#endif
