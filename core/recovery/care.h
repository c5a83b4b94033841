/* SPDX-License-Identifier: Apache-2.0 */
/* The object in which the watcher of a runtime (core/device/watcher.h) keeps what it knows of one kernel. */
#ifndef GYRE_CORE_RECOVERY_CARE_H
#define GYRE_CORE_RECOVERY_CARE_H

#include <stdbool.h>

#include "core/kernel/kernel.h"

/** A block's line in the control region, as the last look found it. */
struct gyre_watched_block {
    uint64_t working, handled; /* the members of that name in the line */
    uint64_t since_ns;         /* when a look first found these values */
};

/** Handlers that do not return (stall.c). Under kernel->lock. */
struct gyre_kernel_watch {
    bool stalled;      /* a handler exceeds its budget */
    uint64_t doomed;   /* kernel->starts when the next death of the worker is to end the kernel, else 0 */
    uint64_t moved_ns; /* when a request was last answered */
    struct gyre_watched_block *blocks; /* care->blocks; NULL: the kernel is not watched */
    uint64_t lost_seen_ns;             /* kernel->lost_ns at the last look; of the watchdog's thread alone */
};

/** Losses of the kernel (supervisor.c). Only the supervisor's thread uses a member, unless the member's comment says
 * otherwise. */
struct gyre_kernel_losses {
    uint32_t relaunches; /* atomic; how often the supervisor launched the kernel again after a loss */
    uint32_t count;      /* losses since `since_ns` */
    uint64_t since_ns;
    bool given_up;          /* atomic; lost too often: only the application launches the kernel again */
    gyre_kernel_state owed; /* the state to return to after a launch that failed; else 0 */
    char why[128];          /* the reason, if the kernel's worker process died; under kernel->lock */
};

/**
 * Deaths of the worker process (recovery_run.c). Used by the thread of the worker's keeper; members that other threads read
 * are written under kernel->lock.
 */
struct gyre_kernel_revival {
    bool seen;         /* the kernel ran in the worker that died */
    bool runs;         /* the keeper's thread revives the kernel, and set turn.starting; under the lock */
    bool revived;      /* the keeper's thread launched it after the last death, and not the application */
    uint64_t verb;     /* the last command before the death */
    uint32_t refusals; /* new workers in a row that did not launch the kernel */
    uint64_t answered; /* answered requests of the kernel, at the last death */
};

struct gyre_care {
    struct gyre_kernel_watch watch;
    struct gyre_kernel_losses losses;
    struct gyre_kernel_revival revival;
    struct gyre_watched_block blocks[]; /* one for each block of the kernel */
};

#endif
