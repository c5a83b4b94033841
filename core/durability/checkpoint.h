/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a kernel: copies of its handler's state, and the requests since the last copy. Preparing checkpoints is here,
 * taking them is in checkpoint_take.h.
 *
 * Locks, outermost first: `taking` (one checkpoint at a time), kernel->lock. `turn.saving` is set while the kernel stands
 * for a checkpoint, and gyre_kernel_await_turn waits for it. The recovery of a dead worker process does not wait: it
 * changes kernel->generation, and the thread that takes the checkpoint throws its copy away. A copy on the device is
 * fetched and committed while the kernel runs (`writing`); the checkpoint counts from then on.
 */
#ifndef GYRE_CORE_DURABILITY_CHECKPOINT_H
#define GYRE_CORE_DURABILITY_CHECKPOINT_H

#include "core/kernel/kernel.h"
#include "core/state/store.h"

enum { REPLAY_SLOTS_MAX = 1024 }; /* slots of the queue for requests that are handled again */

/** Device memory that is part of a kernel's state: the state itself, or a buffer. */
struct gyre_checkpoint_part {
    gyre_memory *memory;
    gyre_memory *snapshot; /* memory of the same size, for a copy on the device; NULL: no such memory */
    uint64_t size;
};

struct gyre_checkpoints {
    struct gyre_store store;
    struct gyre_checkpoint_part *parts; /* in the order of their bytes in the store */
    uint32_t part_count;
    bool on_device;                    /* every part has a snapshot */
    struct gyre_dispatch *device;      /* the device of the snapshots */
    uint64_t every_ns, every_messages; /* age or requests at which a checkpoint is due; UINT64_MAX: never */
    gyre_queue *replay;                /* queue for requests handled again; not in the kernel's list */
    void *request;                     /* room for the largest request */
    gyre_queue *
        entry; /* of the kernel that leads its pipeline (lead.h): the first queue where requests enter; under kernel->lock */
    gyre_layout *reply; /* compares replies (witness.c); NULL: replies are not compared */

    pthread_mutex_t taking;
    pthread_t thread;
    bool runs;
    uint32_t bell, stop; /* atomic: bell: futex word that grows; stop: nonzero ends the thread */
    uint32_t wanted;     /* atomic: a checkpoint has to be taken even if none is due */

    bool restored; /* the first checkpoint came from a journal; used by the launching thread alone */

    bool writing; /* under kernel->lock: a thread uses the next half of the store */
    bool
        replaying; /* under kernel->lock: requests are handled again, so a request is the cause if a worker dies */
    uint64_t replayed;  /* atomic: requests that were handled again */
    uint64_t differing; /* only the replaying thread uses it: requests whose second reply differed */
    /* under kernel->lock */
    uint64_t taken, pause_ns, longest_pause_ns;
};

struct gyre_durable;

/** Wakes the checkpoint thread, which looks whether a checkpoint is due. `context`: the kernel's checkpoints. Any thread. */
static inline void gyre_checkpoints_ring(void *context)
{
    struct gyre_checkpoints *checkpoints = context;
    gyre_bell_ring(&checkpoints->bell, INT_MAX);
}

/** Makes the checkpoint thread take a checkpoint soon, even if nothing was handled since the last one. Any thread. */
static inline void gyre_checkpoints_want(gyre_kernel *kernel)
{
    __atomic_store_n(&kernel->checkpoints->wanted, 1, __ATOMIC_RELEASE);
    gyre_checkpoints_ring(kernel->checkpoints);
}

#endif
