/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a device handle requests again from the last checkpoint on. Call from the thread that set
 * turn.starting. How: replay.c. */
#ifndef GYRE_CORE_DURABILITY_REPLAY_H
#define GYRE_CORE_DURABILITY_REPLAY_H

#include "core/durability/checkpoint.h"

/** INCOMPATIBLE when a worker process overwrote requests that have to be handled again. Before the launch. */
gyre_status gyre_replay_check(gyre_kernel *kernel);
/** Copies the last checkpoint back into the device's memory. */
gyre_status gyre_replay_restore(gyre_kernel *kernel);
/** Does so in that worker process: LOST, also when it has been replaced. */
gyre_status gyre_replay_restore_in(gyre_kernel *kernel, uint64_t incarnation);
/**
 * False when no request has to be handled again. Else shows the device the queue of those requests alone, orders it to
 * run, and returns true. Before the launch, under kernel->lock.
 */
bool gyre_replay_prepare(gyre_kernel *kernel);
/**
 * Lets the launched device handle the requests again; their replies are dropped. `watch` waits until its deadline, and
 * returns whether the device lives. LOST when the device died, or stopped making progress.
 */
gyre_status gyre_replay_run(gyre_kernel *kernel, bool (*watch)(void *context, uint64_t deadline_ns),
                            void *context);
/** Lets a kernel that was just launched handle the requests of a journal again. Under kernel->lock, given up meanwhile. */
gyre_status gyre_replay_start(gyre_kernel *kernel, gyre_resident *resident);

#endif
