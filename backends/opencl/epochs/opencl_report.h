/* SPDX-License-Identifier: Apache-2.0 */
/* The log, the count of failures and the measured times of a kernel. */
#ifndef GYRE_OPENCL_REPORT_H
#define GYRE_OPENCL_REPORT_H

#include "backends/opencl/epochs/opencl_resident.h"

gyre_status opencl_log_create(gyre_resident *resident);
/** Reads the head of the device's log, unless this program shares it. False when the copy fails. */
bool opencl_log_read_head(gyre_resident *resident);
/** Hands on the lines that handlers logged. `now`: reads the log even if it was read a moment ago. */
void opencl_log_drain(gyre_resident *resident, bool now);
/** Returns how many messages handlers failed since the last call, as a direct device counts them. */
uint32_t opencl_failed_since(gyre_resident *resident);
void opencl_profile_add(gyre_resident *resident, const struct opencl_epoch *epoch);
void opencl_profile_tell(const gyre_resident *resident);

#endif
