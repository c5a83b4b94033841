/* SPDX-License-Identifier: Apache-2.0 */
/* What came of a kernel: its log, its failures, its profile. */
#ifndef GYRE_OPENCL_REPORT_H
#define GYRE_OPENCL_REPORT_H

#include "opencl_resident.h"

gyre_status opencl_log_create(gyre_resident *resident);
/** Passes on what handlers logged. `now`: also when it was read a moment ago. */
void opencl_log_drain(gyre_resident *resident, bool now);
/** Messages that handlers failed since the last time, as a direct device counts them. */
uint32_t opencl_failed_since(gyre_resident *resident);
void opencl_profile_add(gyre_resident *resident, const struct opencl_epoch *epoch);
void opencl_profile_tell(const gyre_resident *resident);

#endif
