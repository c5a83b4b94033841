/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are handled again from a checkpoint on. By the thread that has `starting`. */
#ifndef GYRE_CORE_DURABILITY_REPLAY_H
#define GYRE_CORE_DURABILITY_REPLAY_H

#include "core/durability/checkpoint.h"

/** INCOMPATIBLE when a worker overwrote requests that would have to be handled again. Before the launch. */
gyre_status gyre_replay_check(gyre_kernel *kernel);
/** Puts the last checkpoint back into the device's memory. */
gyre_status gyre_replay_restore(gyre_kernel *kernel);
/**
 * Before the launch, under the lock: when there are requests to be handled again, shows the device their
 * queue alone, orders it to run, and returns true.
 */
bool gyre_replay_prepare(gyre_kernel *kernel);
/**
 * Has the launched device handle them again; their replies were given before. `watch` waits until its
 * deadline and says whether the device lives. LOST when it died, or when it came to a stand.
 */
gyre_status gyre_replay_run(gyre_kernel *kernel, bool (*watch)(void *context, uint64_t deadline_ns),
                            void *context);
/** Has a kernel that was just launched handle again what a journal says. Under the lock, given up a while. */
gyre_status gyre_replay_start(gyre_kernel *kernel, gyre_resident *resident);

#endif
