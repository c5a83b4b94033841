/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The courier: a kernel's second thread, which hands out replies beside the pump (the first thread). The pump
 * calls these functions. Private to this folder.
 */
#ifndef GYRE_OPENCL_COURIER_H
#define GYRE_OPENCL_COURIER_H

#include "opencl_epoch.h"

/** Starts the courier if the settings want one. If its thread cannot be started, the pump works alone. */
void opencl_courier_start(gyre_resident *resident);
/** Ends the courier if there is one. No epoch is under way. */
void opencl_courier_end(gyre_resident *resident);
/** Gives an epoch whose kernel is enqueued to the courier, if the epoch is large enough. */
void opencl_courier_give(gyre_resident *resident, struct opencl_epoch *epoch);
/**
 * Whether the courier still has the epoch's replies. Acquire: if not, the caller sees what the courier wrote.
 */
bool opencl_courier_has(const struct opencl_epoch *epoch);
/**
 * Takes back an epoch whose kernel has ended; also accepts an epoch that the courier never had. Waits for
 * moments.
 */
void opencl_courier_recall(struct opencl_epoch *epoch);

#endif
