/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying a kernel's state from the device into the store of its checkpoints. A device that copies within itself lets the
 * kernel stand only for that copy, which is fetched while the kernel goes on. Else the kernel stands for the download.
 *
 * Threads: one at a time, by `taking`. Call without locks.
 */
#ifndef GYRE_CORE_DURABILITY_SNAPSHOT_H
#define GYRE_CORE_DURABILITY_SNAPSHOT_H

#include "core/durability/checkpoint.h"

/** Allocates room on the device for the copy, if the device copies. Logs when there is no room. */
void gyre_snapshot_prepare(gyre_kernel *kernel);
/** Frees that room. */
void gyre_snapshot_release(gyre_kernel *kernel);
/** While the kernel stands: copies its state on the device or, without room there, into the store. */
gyre_status gyre_snapshot_take(gyre_kernel *kernel);
/** While the kernel may run: moves the copy on the device into the store. */
gyre_status gyre_snapshot_fetch(gyre_kernel *kernel);
/** While no device runs: copies the kernel's state into the store. */
gyre_status gyre_snapshot_read(gyre_kernel *kernel);

#endif
