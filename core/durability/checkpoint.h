/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a kernel: what its handler keeps between messages, and the requests since the last one.
 *
 * Locks, outermost first: `taking` (one checkpoint at a time), kernel->lock. While one is taken the kernel
 * has `saving`, which gyre_kernel_await_turn waits for, until it goes on; the recovery of a dead worker does
 * not: it changes kernel->generation, and what was copied meanwhile is thrown away. What was copied on the
 * device is fetched and committed while the kernel runs (`writing`), so a checkpoint counts only then.
 */
#ifndef GYRE_CORE_DURABILITY_CHECKPOINT_H
#define GYRE_CORE_DURABILITY_CHECKPOINT_H

#include "core/kernel/kernel.h"
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

/** Its thread is to look whether one is due; `context`: the kernel's checkpoints. Any thread. */
static inline void gyre_checkpoints_ring(void *context)
{
    struct gyre_checkpoints *checkpoints = context;
    gyre_bell_ring(&checkpoints->bell, INT_MAX);
}

/** Its thread is to take one soon, though nothing may have been handled since the last. Any thread. */
static inline void gyre_checkpoints_want(gyre_kernel *kernel)
{
    __atomic_store_n(&kernel->checkpoints->wanted, 1, __ATOMIC_RELEASE);
    gyre_checkpoints_ring(kernel->checkpoints);
}

#endif
