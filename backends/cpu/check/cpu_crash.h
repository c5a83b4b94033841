/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check `crash`: ends the process of a device in the midst of a message, as a crash would, at the step that the settings name. `gyre call`
 * sets them for a worker process, and compares the answers with those of a run without a crash. The process that goes on in its place finds
 * the crash_file written, and goes on to its end.
 *
 * Not thread-safe: the caller holds the lock of the device's checks.
 */
#ifndef GYRE_CPU_CRASH_H
#define GYRE_CPU_CRASH_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/backend.h"

struct cpu_crash;
struct cpu_settings;
struct cpu_touch;
struct cpu_worker;

/** Whether an earlier process of the device ended so. */
bool cpu_crash_was(const struct cpu_settings *settings);
/** The process has a new device. */
void cpu_crash_open(struct cpu_crash *crash, const struct cpu_settings *settings, const gyre_host *host);
/** The device handles no more than these messages. Without a crash_message the crash_file gets their number, when it is empty. */
void cpu_crash_close(const struct cpu_settings *settings, uint64_t messages);

/** A message begins, touches memory, has ended. They do not return when the process ends there. */
void cpu_crash_begin(struct cpu_worker *worker);
void cpu_crash_touch(struct cpu_worker *worker, const struct cpu_touch *touch);
void cpu_crash_end(struct cpu_worker *worker);

#endif
