/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a handler of a kernel does not come back. "The lock" is kernel->lock. */
#ifndef GYRE_CORE_RECOVERY_STALL_H
#define GYRE_CORE_RECOVERY_STALL_H

#include <stdbool.h>

#include "core/recovery/care.h"

/** How long nothing may happen, and whether that is a budget, which something is done about. */
struct gyre_stall_limit {
    uint64_t limit_ns;
    bool is_budget;
};

struct gyre_stall_limit gyre_stall_limit_of(const gyre_kernel *kernel);

/** The time of the runtime's watchdog (watchdog.h). */
uint64_t gyre_watch_now(const gyre_runtime *runtime);

/** Who looked just before the time of a stop was left out has seen a later one. */
static inline uint64_t gyre_time_since(uint64_t then, uint64_t now)
{
    return now > then ? now - then : 0;
}

/** Notes what the lines of its blocks say. Under the lock. */
void gyre_stall_look_at_blocks(gyre_kernel *kernel, uint64_t now);
/** For how long a block has been at the same message, as far as it or its backend tells; 0: it is at none. */
uint64_t gyre_stall_works_ns(const gyre_kernel *kernel, uint32_t block, uint64_t now);
/** Looks at its queues: whether a handler runs for longer than the budget. Under the lock. */
bool gyre_kernel_stalls(gyre_kernel *kernel, uint64_t now, uint64_t budget);
/** Begins anew, so that a kernel that came back is not blamed for what went before. Under the lock. */
void gyre_stall_forget(gyre_kernel *kernel);

#endif
