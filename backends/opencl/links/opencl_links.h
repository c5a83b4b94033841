/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the epochs of kernels that can be stages of a pipeline (opencl_linked.h). Only the pump's thread calls these functions,
 * except the first two.
 */
#ifndef GYRE_OPENCL_LINKS_H
#define GYRE_OPENCL_LINKS_H

#include "backends/opencl/epochs/opencl_linked.h"

/** Makes the links of a kernel that can be a stage; nothing for another one. EXHAUSTED. */
gyre_status opencl_links_create(gyre_resident *resident);
/** Frees them. The pump has ended. */
void opencl_links_destroy(gyre_resident *resident);

/** Reads the table of links that the control region names now. Messages whose way is gone are forgotten. */
void opencl_links_obey(gyre_resident *resident, gyre_u64 command);
/** Whether there are messages for an epoch, with room for what they may cause. */
bool opencl_links_have_work(const gyre_resident *resident);
/**
 * Wakes the kernels before and behind this one. When the device is lost each of them finds that out and wakes the next, up to
 * those whose clients wait.
 */
void opencl_links_alarm(const gyre_resident *resident);
/** Runs one epoch of what is there. Sets *served if there was anything. GYRE_OK or LOST. */
gyre_status opencl_links_serve(gyre_resident *resident, gyre_u64 command, bool *served);

#endif
