/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reminders of keyed actors (gyre/dialect/opencl_keyed_reminders.h): when keys are due, as the device said at the end of its last epoch, and
 * the epochs without messages that remind them. Only the pump's thread calls these functions.
 */
#ifndef GYRE_OPENCL_REMINDERS_H
#define GYRE_OPENCL_REMINDERS_H

#include "backends/opencl/epochs/opencl_resident.h"

/** Whether the launch may have what the kernel declares. UNIMPLEMENTED. */
gyre_status opencl_reminders_check(const gyre_resident *resident);
/** Forgets what was known of times: the table may be another one. */
void opencl_reminders_forget(gyre_resident *resident);
/** Learns when keys are due. After epochs ended; nothing for other kernels. */
void opencl_reminders_look(gyre_resident *resident);
bool opencl_reminders_are_due(const gyre_resident *resident);
/** When a pump that sleeps wakes by itself, by gyre_clock_ns; UINT64_MAX: not. */
uint64_t opencl_reminders_wake_ns(const gyre_resident *resident);
/** Reminds keys that are due, some of them. No epoch is under way. GYRE_OK or LOST. */
gyre_status opencl_remind(gyre_resident *resident);

#endif
