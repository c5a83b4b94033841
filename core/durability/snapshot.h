/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a kernel's state from the device into the store of its checkpoints. If the device can copy within itself, the kernel
 * stands only for that copy (the snapshot), and goes on while the snapshot is fetched. Else the kernel stands for the download.
 *
 * Threads: one at a time, because the caller holds the checkpoints' lock `taking`. Call without kernel->lock.
 */
#ifndef GYRE_CORE_DURABILITY_SNAPSHOT_H
#define GYRE_CORE_DURABILITY_SNAPSHOT_H

#include "core/durability/checkpoint.h"

/** Allocates memory on the device for the copy, if the device can copy within itself. Logs when there is no room. */
void gyre_snapshot_prepare(gyre_kernel *kernel);
/** Frees the memory of gyre_snapshot_prepare. */
void gyre_snapshot_release(gyre_kernel *kernel);
/** While the kernel stands: copies its state on the device or, without room there, into the store. */
gyre_status gyre_snapshot_take(gyre_kernel *kernel);
/** While the kernel may run: moves the copy on the device into the store. */
gyre_status gyre_snapshot_fetch(gyre_kernel *kernel);
/** While no device runs: copies the kernel's state into the store. */
gyre_status gyre_snapshot_read(gyre_kernel *kernel);

#endif
