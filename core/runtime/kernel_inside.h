/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object behind gyre_kernel, group by group: what each is for, the file that it belongs to, and the lock that
 * guards it. "The lock" is kernel->lock. A member that is called atomic is also read without it.
 */
#ifndef GYRE_CORE_RUNTIME_KERNEL_INSIDE_H
#define GYRE_CORE_RUNTIME_KERNEL_INSIDE_H

#include <pthread.h>
#include <stdbool.h>

#include "core/pipeline/pipeline.h"
#include "core/ring/region.h"
#include "core/plan/build_options.h"
#include "core/queue/queue.h"
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

/** Who has the kernel for himself, and who is there besides (lifecycle.c). Under the lock. */
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

/** Its end (lifecycle.c). Under the lock. */
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

/** A handler that does not come back (watchdog.c). Under the lock. */
struct gyre_kernel_watch {
    bool stalled;                      /* a handler is over its budget */
    bool doomed;                       /* its worker's death is to be its end */
    uint64_t moved_ns;                 /* since when nothing was answered */
    struct gyre_watched_block *blocks; /* the same of each block; NULL: nobody watches */
    uint32_t stalls;                   /* times that it became so */
};

/** How often it was lost, and launched again for that (supervisor.c). The supervisor's thread's, except where it says more. */
struct gyre_kernel_losses {
    uint32_t relaunches; /* atomic */
    uint32_t count;      /* since `since_ns` */
    uint64_t since_ns;
    bool given_up;    /* atomic; lost too often: nobody launches it again but the application */
    uint64_t lost_ns; /* atomic; when it was lost last */
    char why[128];    /* what it was lost by, where its worker process died; under the kernel's lock */
};

/** Deaths of its worker process (recovery.c). The keeper's thread's; what others read is under the lock. */
struct gyre_kernel_revival {
    bool seen;                    /* the worker that died had it */
    bool runs;                    /* turn.starting is the keeper's, who brings it back; under the lock */
    uint64_t verb;                /* what it was told last when its worker died */
    uint32_t refusals;            /* in a row, of new workers to launch it */
    uint64_t answered;            /* requests of its queues, at the last death */
    uint32_t restarts, condemned; /* under the lock: workers that died under it; requests failed for that */
    uint64_t handled_before, failed_before; /* under the lock: requests, by those workers */
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
 *                    -- end_revival --------> lost       the worker process died and is not replaced
 *   stopping         -- end_device ---------> lost       the device died while it was to leave
 *   lost             -- gyre_kernel_start --> active     only in a worker process, and without a device side
 *   lost             -- end_device ---------> stopping   the device side still stands and is taken down
 *
 * A kernel whose device side does not leave stays in "stopping" and can be ended again. gyre_kernel_relaunch decides
 * whether gyre_kernel_start is called; a start that fails leaves the state as it was, unless the device side had to be
 * ended. gyre_kernel_start stands in start.c, change_state and end_device in lifecycle.c, end_revival in recovery.c.
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
    uint64_t generation; /* grows when the device side is made anew */
    bool
        paused_to_save; /* it is paused for a copy of what it keeps alone (checkpoint_take.c, state_read.c) */
    struct gyre_kernel_order order;
    struct gyre_kernel_turn turn;
    struct gyre_kernel_look look;
    struct gyre_kernel_end end;

    struct gyre_kernel_queues queues;
    struct gyre_kernel_shards shards;

    struct gyre_kernel_watch watch;
    struct gyre_kernel_losses losses;
    struct gyre_kernel_revival revival;
    struct gyre_kernel_log log;
};

/** Whether a thread takes the device side up or down, or copies what its handler keeps. Under the lock. */
static inline bool gyre_kernel_is_taken(const gyre_kernel *kernel)
{
    return kernel->turn.starting || kernel->turn.ending || kernel->turn.saving;
}

#endif
