/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of a launched kernel: the resident and its workers. cpu_launch.c starts and ends them;
 * cpu_worker.c is the workers' loop.
 */
#ifndef GYRE_CPU_RESIDENT_H
#define GYRE_CPU_RESIDENT_H

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/lanes/cpu_lane.h"
#include "backends/cpu/cpu_in_turn.h"
#include "backends/cpu/cpu_link_view.h"
#include "backends/cpu/threads/cpu_pool.h"
#include "backends/cpu/cpu_traced.h"
#include "gyre/waiting.h"

/** A worker's view of one entry of the queue table. */
struct cpu_queue {
    gyre_queue_region *region; /* NULL: no queue */
    gyre_u64 serial;
    /*
     * the requests for this worker: with one block all requests from `next` on, else the claimed window
     * [next, end)
     */
    gyre_u64 next, end;
    gyre_queue_slots slots;
    gyre_bridge layout;
    /* room for messages that are stored back to back; in use when layout.words_offset is not 0 */
    gyre_cpu_bridge bridge;
    gyre_cpu_run run; /* the runner's argument: the queue, and its first request, set for each run */
    const gyre_link_entry *entry; /* of a pipeline; NULL: its messages enter none */
};

/** A worker's last failure by an index out of range. */
struct cpu_fault {
    const void *at; /* the instruction whose place is `place` */
    char place[512], text[128];
};

/** Which messages of stages a worker times (cpu_times.h). */
struct cpu_timed {
    gyre_control_times *times; /* NULL: none */
    gyre_u64 mask, turn;       /* those whose turn has none of these bits */
};

/** A worker: the task that serves one block, with its own context and its own line of the control region. */
struct cpu_worker {
    _Alignas(GYRE_LINE_SIZE) struct gyre_resident *resident;
    gyre_control_block *line;
    gyre_u64 command; /* the control word that the worker obeys */
    uint32_t block;
    bool parked;      /* the worker parked and said so in the control region */
    bool looks;       /* the worker is one of gyre_errand.looking */
    bool reminds;     /* constant: the kernel has a GYRE_REMINDED. Here, because every look asks */
    uint64_t starved; /* of a parked worker: a bit for each queue without room for replies */
    uint32_t queue_count;
    gyre_patience patience;
    struct cpu_lanes *lanes; /* of a block kernel; else NULL */
    void *scratch;
    uint64_t scratch_size; /* from the scratch of a block to the next one; 0: the worker has one block */
    gyre_cpu_stage stage;  /* for other programs' messages; no memory if a line holds each message */
    struct cpu_task task;
    gyre_context context;
    struct cpu_fault fault;      /* of a handler that was compiled with checks */
    struct cpu_watched *watched; /* NULL: the device has no checks */
    struct cpu_turn turn;
    struct cpu_links links;
    struct cpu_traced traced;
    struct cpu_timed timed;
    struct cpu_queue queues[GYRE_QUEUES_MAX];
};

struct gyre_resident {
    struct gyre_device *device;
    const gyre_cpu_kernel *kernel;
    gyre_control_region *control;
    void *state;
    gyre_binding *bindings;
    struct cpu_window *windows; /* a queue each; NULL: the device has no checks */
    gyre_idle idle;
    uint32_t spin_turns;
    uint32_t lanes, blocks; /* blocks that serve queues: of a grid kernel block 0 alone */
    uint32_t block_count;   /* blocks of the launch */
    uint32_t together;      /* blocks of one worker: all of a grid, where a device has checks; else 1 */
    uint32_t worker_count;
    int light_barriers;
    uint32_t present; /* futex word: workers that have not left yet */
    void (*kernel_log)(void *context, const char *text, int64_t value);
    void *kernel_log_context;
    gyre_errand *errand;           /* the core's; NULL: none */
    const gyre_trace_point *trace; /* the core's; NULL: none */
    struct cpu_worker *workers;    /* `worker_count` of them */
    struct cpu_grid *grid;         /* NULL: the blocks do not work together */
    struct cpu_seat
        *seat; /* of the one worker, whom threads of the core help (cpu_help); NULL: nobody does */
};

/** The service gyre_cpu_services.index_out_of_range: fails the message, with a sentence about the index. */
void cpu_checked_refuse(gyre_context *context, const gyre_cpu_fault *fault);

/**
 * Fills in the worker's task; the rest of the worker is filled in before. The task ends when the control word
 * says STOP or YIELD.
 */
void cpu_worker_init(struct cpu_worker *worker);

/** Handles what waits in the queues of a worker that has a seat, unless its own thread does so now. Any thread. */
void cpu_worker_help(struct cpu_worker *worker);

/** Whether the worker has a command to obey, or messages that it can handle now. Its own thread asks, or one whose turn it is. */
bool cpu_worker_has_work(const struct cpu_worker *worker);

#endif
