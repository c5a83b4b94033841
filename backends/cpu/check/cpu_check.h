/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a device's messages, and what their handlers touch, where backend.cpu.check names checks. cpu_watched.h has the
 * objects.
 */
#ifndef GYRE_CPU_CHECK_H
#define GYRE_CPU_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/backend.h"

struct cpu_queue;
struct cpu_worker;
struct gyre_resident;

/** Makes the checks of a device whose settings name any; OK and no checks otherwise. */
gyre_status cpu_check_open(struct gyre_device *device);
void cpu_check_close(struct gyre_device *device);

/** Gives the functions to a file that was loaded for a device with checks. INCOMPATIBLE when it was compiled without. */
gyre_status cpu_check_adopt(const gyre_module *module, const char *path);

/** Makes a worker's part, if the device has checks. False without memory. */
bool cpu_check_prepare(struct cpu_worker *worker);
void cpu_check_finish(struct cpu_worker *worker);

/** A worker is about to serve a queue: limits the run to requests that were seen at the same time. */
void cpu_check_look(struct cpu_worker *worker, struct cpu_queue *queue);
/** The worker has served the queue. */
void cpu_check_looked(struct cpu_worker *worker);

/** A worker of a block kernel begins with a message, and has ended it. No-ops without checks. */
void cpu_check_begin(struct cpu_worker *worker, const void *request, uint64_t size);
void cpu_check_end(struct cpu_worker *worker);

#endif
