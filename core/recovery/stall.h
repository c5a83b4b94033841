/* SPDX-License-Identifier: Apache-2.0 */
/* Detects kernels whose handler does not return. "The lock" is kernel->lock. How: stall.c. */
#ifndef GYRE_CORE_RECOVERY_STALL_H
#define GYRE_CORE_RECOVERY_STALL_H

#include <stdbool.h>

#include "core/recovery/care.h"

/** How long a handler may run. */
struct gyre_stall_limit {
    uint64_t limit_ns;
    bool is_budget; /* the limit is a configured budget, so on_stall applies; false: only log a stall */
};

/** The limit for a kernel's handlers, from the configuration; limit_ns is 0 for a kernel that is not watched. */
struct gyre_stall_limit gyre_stall_limit_of(const gyre_kernel *kernel);

/** The present time on the watchdog's clock, which stands while the program is stopped. */
uint64_t gyre_watch_now(const gyre_runtime *runtime);

/** Time from `then` to `now` on the watchdog's clock. 0 if `then` is later, which happens when the clock was just corrected. */
static inline uint64_t gyre_time_since(uint64_t then, uint64_t now)
{
    return now > then ? now - then : 0;
}

/** Notes the present content of the blocks' lines. Under the lock. */
void gyre_stall_look_at_blocks(gyre_kernel *kernel, uint64_t now);
/** How long a block has worked on the same message, if the block or its backend tells; 0: the block works on no message. */
uint64_t gyre_stall_works_ns(const gyre_kernel *kernel, uint32_t block, uint64_t now);
/** True when a handler of the kernel has run for longer than the budget. Under the lock. */
bool gyre_kernel_stalls(gyre_kernel *kernel, uint64_t now, uint64_t budget);
/** Restarts the measurement, so that a kernel that was away is not blamed for that time. Under the lock. */
void gyre_stall_forget(gyre_kernel *kernel);

#endif
