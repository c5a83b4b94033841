/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How what a kernel keeps gets out of its device into the store of its checkpoints. Where the device copies
 * within itself the kernel stands only while a copy is made there; that copy is fetched while it goes on.
 * Else it stands while everything is downloaded.
 *
 * Threads: one at a time, which `taking` sees to. Without locks.
 */
#ifndef GYRE_CORE_DURABILITY_SNAPSHOT_H
#define GYRE_CORE_DURABILITY_SNAPSHOT_H

#include "core/durability/checkpoint.h"

/** Makes room on the device for the copy, if it copies; where there is no room the log says so. */
void gyre_snapshot_prepare(gyre_kernel *kernel);
/** Gives that room back. */
void gyre_snapshot_release(gyre_kernel *kernel);
/** The kernel stands: copies what it keeps on the device, or, without room there, into the store. */
gyre_status gyre_snapshot_take(gyre_kernel *kernel);
/** The kernel may run: what was copied on the device is in the store afterwards. */
gyre_status gyre_snapshot_fetch(gyre_kernel *kernel);
/** The kernel is not there: what it keeps is in the store afterwards. */
gyre_status gyre_snapshot_read(gyre_kernel *kernel);

#endif
