/* SPDX-License-Identifier: Apache-2.0 */
/* A launched kernel and its workers: shared by cpu_launch.c, which starts and ends them, and cpu_worker.c. */
#ifndef GYRE_CPU_RESIDENT_H
#define GYRE_CPU_RESIDENT_H

#include "cpu_backend.h"
#include "cpu_lane.h"
#include "cpu_pool.h"
#include "gyre/waiting.h"

/** A worker's view of one entry of the queue table. */
struct cpu_queue {
    gyre_queue_region *region; /* NULL: no queue */
    gyre_u64 serial;
    /* the requests for this worker: with one block all from `next` on, else the claimed window [next, end) */
    gyre_u64 next, end;
    gyre_queue_slots slots;
    gyre_bridge layout;
    gyre_cpu_bridge bridge; /* in use when layout.words_offset is not 0 */
    gyre_cpu_run
        run; /* the argument of a handler's runner: the queue, and, anew each time, its first request */
};

/** The latest index out of range of a worker's handlers. */
struct cpu_fault {
    const void *at; /* the instruction that `place` is of */
    char place[512], text[128];
};

/** One block: a task with its own context and its own line of the control region. */
struct cpu_worker {
    _Alignas(GYRE_LINE_SIZE) struct gyre_resident *resident;
    gyre_control_block *line;
    gyre_u64 command; /* the control word that it obeys */
    uint32_t block;
    bool parked;      /* and it has told so */
    uint64_t starved; /* of a worker that parks: queues without room for replies */
    uint32_t queue_count;
    gyre_patience patience;
    struct cpu_lanes *lanes; /* of block kernels */
    void *scratch;
    gyre_cpu_stage stage; /* of messages of other programs; no memory where a line holds them */
    struct cpu_task task;
    gyre_context context;
    struct cpu_fault fault; /* of a handler that was compiled with checks */
    struct cpu_queue queues[GYRE_QUEUES_MAX];
};

struct gyre_resident {
    struct gyre_device *device;
    const gyre_cpu_kernel *kernel;
    gyre_control_region *control;
    void *state;
    gyre_binding *bindings;
    gyre_idle idle;
    uint32_t spin_turns;
    uint32_t lanes, blocks;
    int light_barriers;
    uint32_t present; /* futex word: workers that did not leave yet */
    void (*kernel_log)(void *context, const char *text, int64_t value);
    void *kernel_log_context;
    struct cpu_worker *workers; /* `blocks` of them */
};

/** The service gyre_cpu_services.index_out_of_range. */
void cpu_checked_refuse(gyre_context *context, const gyre_cpu_fault *fault);

/** Makes the worker's task, once the rest of the worker is there. The task ends when the control word says STOP or YIELD. */
void cpu_worker_init(struct cpu_worker *worker);

#endif
