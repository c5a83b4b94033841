/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object behind gyre_kernel, group by group: what each is for, the file that it belongs to, and the lock that
 * guards it. "The lock" is kernel->lock. A member that is called atomic is also read without it.
 */
#ifndef GYRE_CORE_KERNEL_KERNEL_H
#define GYRE_CORE_KERNEL_KERNEL_H

#include <pthread.h>
#include <stdbool.h>

#include "core/device/runtime.h"
#include "core/pipeline/pipeline.h"
#include "core/plan/build_options.h"
#include "core/queue/queue.h"
#include "core/ring/region.h"
#include "gyre/gyre.h"

enum { GYRE_NAME_MAX = GYRE_KERNEL_NAME_MAX };

/** What its handler keeps, and is given (binding.c). Does not change after the launch. */
struct gyre_kernel_memory {
    gyre_memory *state;           /* NULL when the kernel has none */
    void *initial_state;          /* what state is at launch; NULL: zero bytes */
    struct gyre_buffer **buffers; /* bound, in binding order */
    uint32_t buffer_count;
};

/** What the device was told last (control.c). Under the lock. */
struct gyre_kernel_order {
    uint64_t epoch; /* grows with each command */
    uint64_t verb;  /* atomic */
};

/** Who has the kernel for himself, and who is there besides (turn.c). Under the lock. */
struct gyre_kernel_turn {
    bool starting, ending; /* a thread is taking the device side up, or down */
    bool saving;           /* it is paused for a checkpoint, or for its state to be read */
    uint32_t wanted;       /* atomic: threads that wait for their turn */
    uint32_t inside;       /* threads that wait for the kernel with the lock given up */
};

/** The last read of its state while it ran (state_read.c). Under the lock. */
struct gyre_kernel_look {
    uint64_t stood_ns; /* for so long it stood */
    uint64_t over_ns;  /* since then it was to go on */
};

/** Its end (end.c). Under the lock. */
struct gyre_kernel_end {
    bool leaving;               /* it is being freed, and not to be launched again */
    uint64_t drain_deadline_ns; /* while ending: the earliest that anybody asked for */
    gyre_status status;         /* of the last end, and how many requests it left unanswered */
    uint64_t unhandled;
};

/** Its queues (kernel_queue.c). Under the lock. */
struct gyre_kernel_queues {
    gyre_queue *first;   /* by `next` */
    gyre_queue *closing; /* no longer listed; a block may have their entries until it obeyed */
    gyre_queue *left;    /* closed while a handler might still write into them; freed at the end */
    gyre_queue *main;    /* the default queue; atomic */
    uint64_t serial;
    uint32_t entries; /* of the table that were ever in use */
};

/** Names behind which several of its queues stand, and what they are to the kernel. Under the lock. */
struct gyre_kernel_shards {
    struct gyre_shards *first; /* by `next` */
    /** Forgets them, when the device side has left, and before the queues are freed. NULL: there were none. */
    void (*free)(gyre_kernel *kernel);
};

/** Its numbers since it was started, beside those that its blocks count now. Under the lock. */
struct gyre_kernel_tally {
    uint64_t handled, failed; /* requests, by worker processes that died */
    uint32_t restarts;        /* worker processes that died under it */
    uint32_t condemned;       /* requests that were failed for such deaths */
    uint32_t stalls;          /* times that a handler was over its budget */
};

/** The application's log, for lines of the kernel's handlers (start.c). Under a lock of its own. */
struct gyre_kernel_log {
    pthread_mutex_t lock; /* held while a line goes there */
    bool ended;
};

/*
 * States of a kernel (kernel_state), and the function that makes each step:
 *
 *   gyre_kernel_create --> terminated
 *
 *   terminated       -- gyre_kernel_start --> active or inactive
 *   active          <-- change_state -------> inactive
 *   active, inactive -- end_device ---------> stopping -- end_device --> terminated
 *
 *   active, inactive -- change_state -------> lost       the device died before it obeyed
 *   active, inactive, stopping
 *                    -- gyre_recovery_end --> lost       the worker process died and is not replaced
 *   stopping         -- end_device ---------> lost       the device died while it was to leave
 *   lost             -- gyre_kernel_start --> active     only in a worker process, and without a device side
 *   lost             -- end_device ---------> stopping   the device side still stands and is taken down
 *
 * A kernel whose device side does not leave stays in "stopping" and can be ended again. gyre_kernel_relaunch decides
 * whether gyre_kernel_start is called; a start that fails leaves the state as it was, unless the device side had to be
 * ended. gyre_kernel_start stands in start.c, change_state in lifecycle.c, end_device in end.c, gyre_recovery_end in revival.c.
 */
struct gyre_kernel {
    /* The list of the runtime (kernel.c). Under runtime->lock. */
    struct gyre_kernel *next;
    bool announced;    /* the launch succeeded: it is shown in the list */
    bool only_built;   /* to see what it declares: it logs nothing */
    bool migrates;     /* it takes over a state of a journal (migrate.c), and has no keeper itself */
    uint32_t visitors; /* atomic: threads that hold it without a lock; grows while it is listed */

    /* What was launched (launch.c, choices.c). Does not change after the launch. */
    gyre_runtime *runtime;
    char name[GYRE_NAME_MAX];
    struct gyre_dispatch *dispatch;
    struct gyre_build *build;
    const gyre_kernel_record *record;
    struct gyre_kernel_types *types;
    uint32_t lanes, blocks;
    struct gyre_kernel_memory memory;
    struct gyre_region region; /* the control region, ... */
    gyre_control_region *control;
    const struct gyre_keeper *keeper;     /* who keeps its state (keeper.h); NULL: nobody does */
    struct gyre_checkpoints *checkpoints; /* the keeper's; NULL: what it did is not repeated */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* something under the lock changed; on the clock of deadlines */

    /* The device side (start.c, lifecycle.c). Under the lock. */
    gyre_resident *resident;        /* NULL while terminated */
    gyre_kernel_state kernel_state; /* atomic */
    uint64_t launched_ns;
    uint64_t lost_ns;    /* atomic: when it was lost last */
    uint64_t generation; /* grows when the device side is made anew */
    uint64_t starts;     /* grows when it is started; not when a watcher brings it back */
    bool
        paused_to_save; /* it is paused for a copy of what it keeps alone (checkpoint_take.c, state_read.c) */
    struct gyre_kernel_order order;
    struct gyre_kernel_turn turn;
    struct gyre_kernel_look look;
    struct gyre_kernel_end end;

    struct gyre_kernel_queues queues;
    struct gyre_kernel_shards shards;

    struct gyre_kernel_tally tally;
    struct gyre_care *care; /* the watcher's (watcher.h), since before it was listed */
    struct gyre_kernel_log log;
};

/** Whether a thread takes the device side up or down, or copies what its handler keeps. Under the lock. */
static inline bool gyre_kernel_is_taken(const gyre_kernel *kernel)
{
    return kernel->turn.starting || kernel->turn.ending || kernel->turn.saving;
}

/** A kernel without anything but its locks; NULL for want of memory. */
gyre_kernel *gyre_kernel_create(gyre_runtime *runtime);
void gyre_kernel_set_state(gyre_kernel *kernel, gyre_kernel_state state);
gyre_kernel_state gyre_kernel_get_state(const gyre_kernel *kernel);

/** A setting of the section of this kernel. */
static inline int64_t gyre_kernel_setting(const gyre_kernel *kernel, const char *key)
{
    return gyre_config_int(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, key);
}

#endif
