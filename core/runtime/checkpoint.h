/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a kernel: what its handler keeps between messages, and the requests since the last one.
 *
 * Locks, outermost first: `taking` (one checkpoint at a time), kernel->lock. While one is taken the kernel
 * has `saving`, which gyre_kernel_await_turn waits for, until it goes on; the recovery of a dead worker does
 * not: it changes kernel->generation, and what was copied meanwhile is thrown away. What was copied on the
 * device is fetched and committed while the kernel runs (`writing`), so a checkpoint counts only then.
 */
#ifndef GYRE_CORE_RUNTIME_CHECKPOINT_H
#define GYRE_CORE_RUNTIME_CHECKPOINT_H

#include "core/runtime/runtime.h"
#include "core/state/store.h"

enum { REPLAY_SLOTS_MAX = 1024 }; /* of the queue of requests that are handled again */

/** Memory of the device that belongs to a kernel's state. */
struct gyre_checkpoint_part {
    gyre_memory *memory;
    gyre_memory *snapshot; /* of the same size, for a copy of it; NULL where there is none */
    uint64_t size;
};

struct gyre_checkpoints {
    struct gyre_store store;
    struct gyre_checkpoint_part *parts; /* one behind the other in the store */
    uint32_t part_count;
    bool on_device;                    /* every part has its snapshot */
    uint64_t every_ns, every_messages; /* UINT64_MAX: that is no reason */
    gyre_queue *replay;                /* takes requests that are handled again; not in the kernel's list */
    void *request;                     /* room for the largest */
    gyre_layout *reply;                /* witness.c; NULL: replies are not compared */

    pthread_mutex_t taking;
    pthread_t thread;
    bool runs;
    uint32_t bell, stop; /* atomic: a futex word that grows; the thread is to end */
    uint32_t wanted;     /* atomic: one is to be taken, due or not */

    bool restored; /* the first one was that of a journal; the thread's that launches it */

    bool writing;   /* under the kernel's lock: the next half of the store is somebody's */
    bool replaying; /* under the kernel's lock: a worker that dies now dies of requests it handled before */
    uint64_t replayed;  /* under the kernel's lock, as what follows: requests that were handled again */
    uint64_t differing; /* the keeper's: those of which the reply was another one */
    uint64_t taken, pause_ns, longest_pause_ns;
};

/** As configured: makes what checkpoints of the kernel need. Its buffers are bound and its state is made. */
gyre_status gyre_checkpoints_create(gyre_kernel *kernel);
/** Its main queue is there: logs it when checkpoints are configured and of no use, or of less. */
void gyre_checkpoints_judge(const gyre_kernel *kernel);
/** Logs a warning when the kernel has checkpoints and its source uses a clock. */
void gyre_checkpoints_point_out(const gyre_kernel *kernel, const char *source);
/** The device has left. Accepts a kernel without. */
void gyre_checkpoints_destroy(gyre_kernel *kernel);

struct gyre_durable;

/**
 * Gives a new queue of the kernel what checkpoints and its journal (NULL: none) need, and puts into it what
 * the journal says. `durable` is the queue's then, also after a failure. Under the lock.
 */
gyre_status gyre_checkpoints_equip(gyre_kernel *kernel, gyre_queue *queue, struct gyre_durable *durable);
/** The first checkpoint: the state at launch. The device is not there yet; without the lock. */
gyre_status gyre_checkpoints_begin(gyre_kernel *kernel);
/** What was sent is settled, for a kernel that begins with its initial state. Under the lock. */
void gyre_checkpoints_rewind(gyre_kernel *kernel, gyre_queue *queue);

/* checkpoint_take.c */

/** Starts the thread that takes them. */
gyre_status gyre_checkpoints_start(gyre_kernel *kernel);
/** Its thread is to take one soon, though nothing may have been handled since the last. Any thread. */
void gyre_checkpoints_want(gyre_kernel *kernel);
/** Its thread is to look whether one is due; `context`: the kernel's checkpoints. Any thread. */
void gyre_checkpoints_ring(void *context);
/** Ends it. Without locks. Accepts a kernel without. */
void gyre_checkpoints_stop(gyre_kernel *kernel);
/**
 * The device has left in order, and its resident is not released yet: a kernel with a journal has a last checkpoint
 * taken, so that the next run handles nothing again. Under the lock, given up meanwhile. Accepts a kernel without.
 */
void gyre_checkpoints_finish(gyre_kernel *kernel);
/** Before a queue is freed: its requests are in a checkpoint. Without the lock. */
void gyre_checkpoints_settle(gyre_kernel *kernel, gyre_queue *queue);

/* replay.c: by the thread that has `starting`. */

/** INCOMPATIBLE when a worker overwrote requests that would have to be handled again. Before the launch. */
gyre_status gyre_replay_check(gyre_kernel *kernel);
/** Puts the last checkpoint back into the device's memory. */
gyre_status gyre_replay_restore(gyre_kernel *kernel);
/**
 * Before the launch, under the lock: when there are requests to be handled again, shows the device their
 * queue alone, orders it to run, and returns true.
 */
bool gyre_replay_prepare(gyre_kernel *kernel);
/**
 * Has the launched device handle them again; their replies were given before. `watch` waits until its
 * deadline and says whether the device lives. LOST when it died, or when it came to a stand.
 */
gyre_status gyre_replay_run(gyre_kernel *kernel, bool (*watch)(void *context, uint64_t deadline_ns),
                            void *context);
/** Has a kernel that was just launched handle again what a journal says. Under the lock, given up a while. */
gyre_status gyre_replay_start(gyre_kernel *kernel, gyre_resident *resident);

/* witness.c */

/** The kernel's checkpoints were made: replies can be compared from now on. */
void gyre_witness_prepare(gyre_kernel *kernel);
/** Logs the first time that a request which is handled again is completed as it was not before. */
void gyre_witness_compare(gyre_kernel *kernel, const gyre_queue *queue, uint64_t index,
                          const gyre_view *again);

#endif
