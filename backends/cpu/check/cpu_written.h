/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check `memory`: reads of bytes of the reply and the scratch that no lane wrote for this message, and of bytes of a request that its sender,
 * another handler, did not write.
 */
#ifndef GYRE_CPU_WRITTEN_H
#define GYRE_CPU_WRITTEN_H

#include <stdbool.h>

#include "gyre/dialect/cpu_module.h"

struct cpu_checks;
struct cpu_touch;
struct cpu_watched;
struct cpu_worker;

/** Makes the memory for it, with a scratch for each of the blocks; false when there is none. */
bool cpu_written_prepare(struct cpu_watched *watched, const gyre_cpu_kernel *kernel, uint32_t blocks);

/** The lanes begin with a message, or once more with the same one: nothing was written yet, and nothing was touched. */
void cpu_written_begin(struct cpu_worker *worker);

/** The lanes have ended: tells of a read that waits for a later write. A no-op where nothing waits. */
void cpu_written_end(struct cpu_worker *worker);

/** The handler is about to write to a message that it emits. The caller has the lock of the device's checks. */
void cpu_written_emit(const struct cpu_worker *worker, const struct cpu_touch *touch);
/** A worker begins with a message: takes what is known of the request. */
void cpu_written_receive(struct cpu_worker *worker);
/** Frees what a device's checks, and a worker's part of them, have for it. */
void cpu_written_close(struct cpu_checks *checks);
void cpu_written_finish(struct cpu_watched *watched);

void cpu_written_check(gyre_context *context, const struct cpu_touch *touch);

#endif
