/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the observation file of the process when something went wrong (core/observation/observation_dump.h). */
#ifndef GYRE_CORE_RECOVERY_KEEP_RECORD_H
#define GYRE_CORE_RECOVERY_KEEP_RECORD_H

#include "core/kernel/kernel.h"

/** Something went wrong: the watchdog keeps the file soon. Any thread; waits for nothing. */
void gyre_record_want(gyre_runtime *runtime);
/** Whether somebody wants it and the last one is not too recent. Called by the watchdog's thread alone. */
bool gyre_record_is_due(const gyre_runtime *runtime);
/** Keeps it, and says where it lies in the log. The kernels were observed before. Called by the watchdog's thread alone. */
void gyre_record_keep(gyre_runtime *runtime);
/** Wants it if the kernel was lost since the last call. Called by the watchdog's thread alone, for each kernel. */
void gyre_record_look(gyre_runtime *runtime, gyre_kernel *kernel);

#endif
