/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a kernel for its watching and reviving; and the watcher that keeps it (watcher.h). */
#ifndef GYRE_CORE_RECOVERY_CARE_H
#define GYRE_CORE_RECOVERY_CARE_H

#include <stdbool.h>

#include "core/kernel/kernel.h"

/** A block's line as it was seen last. */
struct gyre_watched_block {
    uint64_t working, handled; /* as there */
    uint64_t since_ns;         /* when that was new */
};

/** A handler that does not come back (stall.c). Under kernel->lock. */
struct gyre_kernel_watch {
    bool stalled;                      /* a handler is over its budget */
    uint64_t doomed;                   /* kernel->starts, when its worker's death is to be its end */
    uint64_t moved_ns;                 /* since when nothing was answered */
    struct gyre_watched_block *blocks; /* the same of each block; NULL: nobody watches */
};

/** How often it was lost, and launched again for that (supervisor.c). The supervisor's thread's, unless a member says more. */
struct gyre_kernel_losses {
    uint32_t relaunches; /* atomic */
    uint32_t count;      /* since `since_ns` */
    uint64_t since_ns;
    bool given_up; /* atomic; lost too often: nobody launches it again except the application */
    char why[128]; /* what it was lost by, where its worker process died; under kernel->lock */
};

/** Deaths of its worker process (recovery.c). The keeper's thread's; what others read is under kernel->lock. */
struct gyre_kernel_revival {
    bool seen;         /* the worker that died had it */
    bool runs;         /* turn.starting is the keeper's, who brings it back; under the lock */
    uint64_t verb;     /* what it was told last when its worker died */
    uint32_t refusals; /* in a row, of new workers to launch it */
    uint64_t answered; /* requests of its queues, at the last death */
};

struct gyre_care {
    struct gyre_kernel_watch watch;
    struct gyre_kernel_losses losses;
    struct gyre_kernel_revival revival;
    struct gyre_watched_block blocks[]; /* a kernel's; those of watch.blocks */
};

/** Becomes the watcher of a runtime that is being opened. EXHAUSTED. */
gyre_status gyre_care_open(gyre_runtime *runtime);
/** Ends the watcher's threads: before the kernels are released. Accepts a runtime without. */
void gyre_care_close(gyre_runtime *runtime);

#endif
