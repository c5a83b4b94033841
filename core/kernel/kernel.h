/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object behind gyre_kernel. Each group of members says its purpose, the file that works with it, and the lock that
 * guards it. "The lock" is kernel->lock. A member marked atomic is also read without the lock.
 */
#ifndef GYRE_CORE_KERNEL_KERNEL_H
#define GYRE_CORE_KERNEL_KERNEL_H

#include <pthread.h>
#include <stdbool.h>

#include "core/device/runtime.h"
#include "core/kernel/errand.h"
#include "core/pipeline/pipeline.h"
#include "core/plan/build_options.h"
#include "core/queue/queue.h"
#include "core/ring/region.h"
#include "gyre/gyre.h"

enum { GYRE_NAME_MAX = GYRE_KERNEL_NAME_MAX };

/** The handler's state and its bound buffers (binding.c). Constant after the launch, but for a swap or a move (change.c). */
struct gyre_kernel_memory {
    gyre_memory *state;           /* NULL: the handler keeps no state */
    uint64_t state_size;          /* bytes of `state` that the handler uses */
    struct gyre_keyed *keyed;     /* the plan of the table that `state` is (keyed.h); NULL: it is one state */
    void *initial_state;          /* the content of `state` at a launch; NULL: zero bytes */
    struct gyre_buffer **buffers; /* in the order of the bindings */
    uint32_t buffer_count;
};

/** The last command to the device (control.c). Under the lock. */
struct gyre_kernel_order {
    uint64_t epoch; /* grows with each command */
    uint64_t verb;  /* atomic */
};

/** Whether a thread works on the device side of the kernel, and how many threads wait (turn.c). Under the lock. */
struct gyre_kernel_turn {
    bool starting, ending; /* a thread is taking the device side up, or down */
    bool saving;           /* a thread paused the kernel for a checkpoint, or to read its state */
    bool changing;         /* the thread of `starting` puts another body into the kernel (change.c) */
    bool change_waits;     /* a thread is about to: in another worker process the kernel begins paused */
    uint32_t wanted;       /* atomic: threads that wait for their turn */
    uint32_t inside;       /* threads that wait for the kernel with the lock given up */
    uint32_t helping;      /* threads that handle requests of the kernel themselves (help.c) */
};

/** The last read of the handler's state while the kernel ran (state_read.c). Under the lock. */
struct gyre_kernel_look {
    uint64_t stood_ns; /* how long the kernel stood for the read */
    uint64_t over_ns;  /* when the reader told the kernel to go on */
};

/** The end of the kernel (end.c). Under the lock. */
struct gyre_kernel_end {
    bool leaving;               /* the kernel is being freed, and must not be launched again */
    uint64_t drain_deadline_ns; /* while ending: the earliest deadline that a caller asked for */
    gyre_status status;         /* result of the last end */
    uint64_t unhandled;         /* requests that the last end left unanswered */
};

/** The kernel's queues (kernel_queue.c). Under the lock. */
struct gyre_kernel_queues {
    gyre_queue *first;   /* the list of open queues, linked by `next` */
    gyre_queue *closing; /* queues being closed; a block may use their table entry until it obeyed */
    gyre_queue
        *left; /* queues that a handler might still write into; freed when it let go, or with the kernel */
    gyre_queue *main; /* the default queue; atomic */
    uint64_t serial;
    uint32_t entries; /* entries of the queue table that were ever in use */
};

/** The kernel's shards: each is one name for several queues of the kernel (core/links). Under the lock. */
struct gyre_kernel_shards {
    struct gyre_shards *first; /* linked by `next` */
    /** Frees the shards after the device has left, and before the queues are freed. NULL: none were opened. */
    void (*free)(gyre_kernel *kernel);
};

/** The kernel as a node (a stage) of a pipeline (node.c). Under the lock. */
struct gyre_kernel_node {
    struct gyre_runtime_guest *pipeline; /* NULL: the kernel is in none */
    const char *pipeline_name;           /* valid as long as `pipeline` */
    bool making;                         /* the pipeline is not open yet */
    bool stays;                          /* a block of another stage may use the kernel's memory for ever */
    bool ended;                          /* the kernel is being released, and enters no pipeline any more */
    bool saved_together; /* its checkpoints are taken with those of the other stages, by the pipeline */
    bool
        in_journal; /* and are in the journal of its entry: launched anew it would begin with something else */
    bool behind; /* and in a new worker process requests since the last one have not been handled again yet */
    bool
        unwired; /* its worker process is another one, whose blocks know no links yet, and see no queue of the pipeline */
};

/** Counts since the last start, without the counts of the blocks that run now. Under the lock. */
struct gyre_kernel_tally {
    uint64_t handled, failed; /* requests that worker processes handled or failed before they died */
    uint32_t restarts;        /* worker processes that died with the kernel in them */
    uint32_t condemned;       /* requests that were failed because they killed workers */
    uint32_t stalls;          /* how often a handler exceeded its budget */
};

/** How long the flows took that entered at the kernel, of clients of this program: from its block to their completion, and in all. */
struct gyre_kernel_flows {
    bool timed; /* some may have been */
    gyre_observe_histogram handled, round_trips;
};

/** What queues that are closed refused and lost, and the last look that found some of it. */
struct gyre_kernel_refusals {
    uint64_t refused, lost, last_ns;
};

/** How fast the kernel's messages are handled (count_soon.c). */
struct gyre_kernel_pace {
    uint64_t looked_ns, handled; /* when the kernel was looked at, and what it had completed then */
    bool slow;                   /* its blocks are asked to count each message */
};

/** Builds that were replaced (change.c), whose types others may still use. Under the lock. */
struct gyre_kernel_past {
    struct gyre_build **builds;
    size_t count;
    struct gyre_build *replaced; /* one of them: of the handler before the last swap; NULL: there is none */
    const struct gyre_kernel_record *replaced_record;
};

/** What the blocks of a kernel counted of its two handlers while it has a canary (canary.c). */
struct gyre_canary_seen {
    uint64_t handled, failed, next_handled, next_failed;
    uint64_t handled_ns, next_handled_ns; /* in the handlers; 0: not measured */
    uint32_t deaths;                      /* worker processes that died meanwhile */
};

/** A handler that is tried beside the kernel's own (canary.c). Under the lock. */
struct gyre_kernel_canary {
    bool active;
    bool is_to_end; /* another thread wants the old handler back */
    uint32_t share, of;
    const char *file; /* the new handler's; valid while it is active */
    uint64_t begun_ns;
    struct gyre_canary_seen seen; /* at the last look */
};

/** Lines of the handlers for the application's log (start.c). Under a lock of its own. */
struct gyre_kernel_log {
    pthread_mutex_t lock; /* held while a line is logged */
    bool ended;           /* no line is logged any more */
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
 * A swap or a move (change.c) takes the device side down and up in the same state, active or inactive, unless both the new
 * and the old body fail to launch: then the kernel is terminated, or lost where a worker process could revive it.
 *
 * A kernel whose device side does not leave stays in "stopping" and can be ended again. gyre_kernel_relaunch decides
 * whether gyre_kernel_start is called; a start that fails leaves the state as it was, unless the device side had to be
 * ended. gyre_kernel_start stands in start.c, change_state in lifecycle.c, end_device in end.c, gyre_recovery_end in revival.c.
 */
struct gyre_kernel {
    /* The runtime's list of kernels (list.c, visit.c). Under runtime->lock. */
    struct gyre_kernel *next;
    bool announced;  /* the launch succeeded: applications see the kernel */
    bool only_built; /* a caller wants only the declarations: the kernel logs nothing and never starts */
    bool
        polled; /* who waits at its queues looks by himself, on whichever device it is; constant since the build */
    bool
        helped; /* who sends to it may handle the requests himself (help.h); constant since before the launch */
    bool migrates; /* it converts the state of a journal (migrate.c), and has no keeper */
    uint32_t
        visitors; /* atomic: threads that keep the kernel from being freed; grows only while it is listed */

    /* The launched kernel (launch.c, protocol.c). Constant after the launch, but for a swap or a move: that replaces `dispatch`,
     * `build`, `record` and `memory` under the lock, in the thread that set turn.changing, while there is no device side. What was
     * read before without the lock stays valid (`past`; devices stay open). */
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
    const struct gyre_keeper *keeper;     /* keeps the kernel's state (keeper.h); NULL: nothing is kept */
    struct gyre_checkpoints *checkpoints; /* the keeper's; NULL: no request is handled again after a death */

    pthread_mutex_t changer; /* held from the preparation of a swap or a move to its end; before `lock` */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a member under the lock changed; on the clock of deadlines */

    /* The device side (start.c, lifecycle.c). Under the lock. */
    gyre_resident *resident;        /* NULL while terminated */
    gyre_kernel_state kernel_state; /* atomic */
    uint64_t launched_ns;
    uint64_t lost_ns;    /* atomic: when the kernel was lost last */
    uint64_t generation; /* grows with each new device side */
    uint64_t
        starts; /* grows with each gyre_kernel_start, unlike `generation` not when a watcher revives the kernel */
    bool paused_to_save; /* paused by a thread that copies the state, not by the application */
    struct gyre_kernel_order order;
    struct gyre_kernel_turn turn;
    struct gyre_kernel_look look;
    struct gyre_kernel_end end;

    struct gyre_kernel_past past;
    struct gyre_kernel_canary canary;
    const struct gyre_canary_unit *unit; /* of a successor that is built for a canary (swap.c) */
    uint64_t changes; /* atomic: swaps and moves, also such as were taken back (change.c) */

    struct gyre_kernel_queues queues;
    struct gyre_kernel_shards shards;
    struct gyre_kernel_node node;

    struct gyre_kernel_tally tally;
    uint32_t observed; /* the kernel's record in the observation file; 0: it has none. Atomic (observed.c) */
    gyre_trace_point traced;                   /* as blocks see it (observed.c) */
    struct gyre_kernel_flows flows_before;     /* of queues that are closed; under the lock (observed.c) */
    struct gyre_kernel_pace pace;              /* under the lock (count_soon.c) */
    struct gyre_kernel_busy *busy;             /* under the lock (busy.c); NULL: there was no memory */
    struct gyre_kernel_refusals losses_before; /* by queues that are closed; under the lock (observed.c) */
    gyre_observe_histogram handled_before;     /* by queues that are closed; under the lock (observed.c) */
    struct gyre_care *care; /* the watcher's (watcher.h); set before the kernel is listed */
    struct gyre_kernel_log log;
    struct gyre_kernel_errand errand; /* under a lock of its own */
};

/** When the kernel was lost last; 0: it never was. */
static inline uint64_t gyre_kernel_lost_ns(const gyre_kernel *kernel)
{
    return __atomic_load_n(&kernel->lost_ns, __ATOMIC_RELAXED);
}

/** True while a thread takes the device side up or down, or copies the handler's state. Under the lock. */
static inline bool gyre_kernel_is_taken(const gyre_kernel *kernel)
{
    return kernel->turn.starting || kernel->turn.ending || kernel->turn.saving;
}

/** Through which a thread that carries messages of the kernel lends its work to the device. */
static inline struct gyre_kernel_errand *gyre_kernel_errand(gyre_kernel *kernel)
{
    return &kernel->errand;
}

/** Makes a kernel that has nothing but its locks; NULL without memory. */
gyre_kernel *gyre_kernel_create(gyre_runtime *runtime);
void gyre_kernel_set_state(gyre_kernel *kernel, gyre_kernel_state state);
gyre_kernel_state gyre_kernel_get_state(const gyre_kernel *kernel);

/** The value of a setting in the kernel's section, [kernel.NAME]. */
static inline int64_t gyre_kernel_setting(const gyre_kernel *kernel, const char *key)
{
    return gyre_config_int(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, key);
}

/** The value of a setting in [queue.SECTION], for a queue of this kernel. */
static inline int64_t gyre_kernel_queue_setting(const gyre_kernel *kernel, const char *section,
                                                const char *key)
{
    return gyre_config_int(kernel->runtime->config, GYRE_SECTION_QUEUE, section, key);
}

#endif
