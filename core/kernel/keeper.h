/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper of a kernel, which saves the kernel's state and its queues' requests, so that they outlive the device and the
 * program. The kernel calls this table at the points of its life that the keeper has to know, and knows nothing else of the
 * keeper.
 *
 * "The lock" is kernel->lock.
 */
#ifndef GYRE_CORE_KERNEL_KEEPER_H
#define GYRE_CORE_KERNEL_KEEPER_H

#include "core/kernel/kernel.h"
#include "gyre/link_layout.h"

struct gyre_durable; /* the journal of a queue */
struct gyre_kernel_face;

enum { GYRE_KEPT_STAGES_MAX = 64 };

/**
 * The stages of a pipeline whose entry may have a journal: it holds what all of them keep, of one moment (core/links/kept.h). Stages without
 * checkpoints keep nothing. They are in the order of their names, so that a journal is the same in whatever order they were found.
 */
struct gyre_kept_stages {
    const char *pipeline; /* its name */
    uint64_t wiring;      /* a hash that says how they are linked */
    gyre_kernel *leader;  /* the first of them that has checkpoints */
    struct gyre_kept_stage {
        gyre_kernel *kernel;
        const char *name;
        struct gyre_checkpoints *checkpoints; /* NULL: none */
        uint64_t handler;                     /* a hash of its source; 0: unknown */
    } all[GYRE_KEPT_STAGES_MAX];
    uint32_t count;
};

/** A queue by which requests enter a pipeline with checkpoints. */
struct gyre_led {
    gyre_queue *entry, *repeater; /* by `repeater` its requests are handled again */
    const gyre_flow
        *flows; /* which say when requests were taken (core/stages/taken.h); NULL: nobody has to know */
    uint64_t log_bytes; /* at most, of the log */
};

struct gyre_keeper {
    /**
     * Before the launch of a device whose memory holds the initial state. Afterwards the memory may hold the state of an
     * earlier run. Without the lock.
     */
    gyre_status (*begin)(gyre_kernel *kernel);
    /**
     * Lets a launched device, which serves no queue yet, handle the requests of a journal again. LOST when the device died
     * meanwhile. Under the lock, given up meanwhile.
     */
    gyre_status (*replay)(gyre_kernel *kernel, gyre_resident *resident);
    /** The kernel runs: the content of journals is not needed any more. Under the lock. */
    void (*running)(gyre_kernel *kernel);
    /** The device has left normally, and its resident is not released yet. Under the lock, given up meanwhile. */
    void (*left)(gyre_kernel *kernel);
    /**
     * The kernel stands at a message boundary, and another body is to go on (change.h): saves the effects of all that was handled,
     * so that no other handler handles it again. AGAIN: the kernel was revived meanwhile. Under the lock, given up meanwhile.
     */
    gyre_status (*stand)(gyre_kernel *kernel);
    /**
     * The kernel has another body, whose memory holds what the kernel keeps, and no device side: checkpoints and journals go on with
     * its types and its handler. Called again, with `back`, when the body before is taken back: then a journal that cannot be written
     * does not keep the kernel from going on, and its senders wait as with a full disk. Without the lock.
     */
    gyre_status (*adapt)(gyre_kernel *kernel, bool back);
    /**
     * A checkpoint in three steps, so that those of several kernels count at one moment. The kernel stands at a message boundary. The
     * first begins: false while another one is being stored (kernel->changed tells when it is); under the lock. The second copies what
     * the kernel keeps; without the lock. The third ends what the first began: the copy counts, or is thrown away; under the lock. `begun_ns`: since when the kernel was to stand. Only
     * for kernels with checkpoints.
     */
    bool (*draw_begin)(gyre_kernel *kernel);
    gyre_status (*draw_copy)(gyre_kernel *kernel);
    void (*draw_end)(gyre_kernel *kernel, bool counts, uint64_t begun_ns);
    /**
     * In place of the second step, and behind the third: the checkpoint is what the journal of an entry holds of the stage, and the memory of
     * its device in that worker process becomes as it says. Without the lock. INCOMPATIBLE; LOST.
     */
    gyre_status (*draw_kept)(gyre_kernel *kernel, const gyre_queue *entry);
    gyre_status (*restore)(gyre_kernel *kernel, uint64_t incarnation);
    /** Whether the journal of the entry holds what stages kept in an earlier run. */
    bool (*entry_has_kept)(const gyre_queue *entry);
    /** Takes the last checkpoints of all stages, which are of one moment and stay as they are meanwhile, for the journal of the entry. */
    gyre_status (*entry_gather)(const gyre_queue *entry);
    /** Begins the file anew with what was gathered, and keeps it from then on. The entry is led. */
    gyre_status (*entry_begin)(gyre_queue *entry);
    /** Writes what was gathered. `last`: no request was handled behind it, and none will be. */
    void (*entry_write)(const gyre_queue *entry, bool last);
    /**
     * The kernel of these checkpoints leads those of its pipeline: one more queue by which requests enter gets a log, and counts as one of
     * the kernel's for when a checkpoint is due and what it covers. INVALID: the log has no room for a request, or the queue has other
     * headers than its repeater; EXHAUSTED. Under the lock.
     */
    gyre_status (*lead)(struct gyre_checkpoints *checkpoints, const struct gyre_led *led);
    /** It leads no more: these queues have no logs any more. Under the lock. */
    void (*lead_no_more)(struct gyre_checkpoints *checkpoints);
    /**
     * The device died, and its memory is as it left it. Whether requests of these queues have to be handled again, because they came since
     * the last checkpoint. Then their repeaters are emptied. No device has any of these queues. Without the lock.
     */
    bool (*lead_prepare)(const struct gyre_checkpoints *checkpoints);
    /**
     * Handles them again, in the order in which they were taken, through the repeaters, the only queues of the pipeline that the device
     * sees. The completion of one that had none goes to its queue. `watch`: waits, and tells whether the device lives. LOST. Without
     * the lock.
     */
    gyre_status (*lead_repeat)(struct gyre_checkpoints *checkpoints,
                               bool (*watch)(void *context, uint64_t deadline_ns), void *context);
    /** Whether the kernel's checkpoints hold that memory of its device. Under the lock. */
    bool (*covers)(const gyre_kernel *kernel, const gyre_memory *memory);
    /** Whether a queue of the kernel has a journal. Under the lock. */
    bool (*has_journal)(const gyre_kernel *kernel);
    /** Whether a state of type `from` can become one of the kernel's type. INCOMPATIBLE, with what is in the way. */
    gyre_status (*check_convert)(const gyre_kernel *kernel, const gyre_type *from);
    /** Converts a state of type `from`. `after` holds zeros, or the initial content of what `from` has not. Without the lock. */
    gyre_status (*convert)(const gyre_kernel *kernel, const gyre_type *from, const void *before, void *after);
    /** Ends the keeper's thread, before the kernel is freed. Without the lock. */
    void (*stop)(gyre_kernel *kernel);
    /** Frees kernel->checkpoints, after the kernel's queues are freed. No other thread has the kernel. */
    void (*destroy)(gyre_kernel *kernel);

    /**
     * Opens the journal of a queue that is about to be made, if [queue.SECTION] asks for one; else *out is NULL. Sets
     * desc->first_sequence to the index at which the queue has to begin.
     */
    gyre_status (*queue_open)(gyre_kernel *kernel, const struct gyre_kernel_face *face, gyre_queue_desc *desc,
                              const char *section, struct gyre_durable **out);
    /**
     * Gives a new queue, which is in no list yet, the log that the keeper and its journal (NULL: none) need, and puts the
     * journal's messages into the queue. The queue owns `durable` afterwards, even after a failure. Under the lock.
     */
    gyre_status (*queue_equip)(gyre_kernel *kernel, gyre_queue *queue, struct gyre_durable *durable);
    /** Settles all requests of a queue: no device runs, and the next one begins behind them. Under the lock. */
    void (*queue_rewind)(gyre_kernel *kernel, gyre_queue *queue);
    /** Saves the effects of a queue that is about to be freed. No thread sends into the queue, and no block takes from it.
     * Without the lock. */
    void (*queue_settle)(gyre_kernel *kernel, gyre_queue *queue);
    /** Ends the thread of a journal after a last look at its queue, and closes the file. */
    void (*queue_end)(struct gyre_durable *durable);
    /** Frees a journal after queue_end, when its queue is freed, so that no thread rings the journal's bell. */
    void (*queue_free)(struct gyre_durable *durable);
};

/*
 * The calls of the table. For a kernel without a keeper they do nothing.
 */

static inline gyre_status gyre_keeper_begin(gyre_kernel *kernel)
{
    return kernel->keeper ? kernel->keeper->begin(kernel) : GYRE_OK;
}

static inline gyre_status gyre_keeper_replay(gyre_kernel *kernel, gyre_resident *resident)
{
    return kernel->keeper ? kernel->keeper->replay(kernel, resident) : GYRE_OK;
}

static inline void gyre_keeper_running(gyre_kernel *kernel)
{
    if (kernel->keeper)
        kernel->keeper->running(kernel);
}

static inline void gyre_keeper_left(gyre_kernel *kernel)
{
    if (kernel->keeper)
        kernel->keeper->left(kernel);
}

static inline gyre_status gyre_keeper_stand(gyre_kernel *kernel)
{
    return kernel->keeper ? kernel->keeper->stand(kernel) : GYRE_OK;
}

static inline gyre_status gyre_keeper_adapt(gyre_kernel *kernel, bool back)
{
    return kernel->keeper ? kernel->keeper->adapt(kernel, back) : GYRE_OK;
}

static inline void gyre_keeper_stop(gyre_kernel *kernel)
{
    if (kernel->keeper)
        kernel->keeper->stop(kernel);
}

static inline void gyre_keeper_destroy(gyre_kernel *kernel)
{
    if (kernel->keeper)
        kernel->keeper->destroy(kernel);
}

static inline gyre_status gyre_keeper_queue_open(gyre_kernel *kernel, const struct gyre_kernel_face *face,
                                                 gyre_queue_desc *desc, const char *section,
                                                 struct gyre_durable **out)
{
    return kernel->keeper ? kernel->keeper->queue_open(kernel, face, desc, section, out) : GYRE_OK;
}

static inline gyre_status gyre_keeper_queue_equip(gyre_kernel *kernel, gyre_queue *queue,
                                                  struct gyre_durable *durable)
{
    return kernel->keeper ? kernel->keeper->queue_equip(kernel, queue, durable) : GYRE_OK;
}

static inline void gyre_keeper_queue_rewind(gyre_kernel *kernel, gyre_queue *queue)
{
    if (kernel->keeper)
        kernel->keeper->queue_rewind(kernel, queue);
}

static inline void gyre_keeper_queue_settle(gyre_kernel *kernel, gyre_queue *queue)
{
    if (kernel->keeper)
        kernel->keeper->queue_settle(kernel, queue);
}

static inline void gyre_keeper_queue_end(const gyre_kernel *kernel, struct gyre_durable *durable)
{
    if (durable)
        kernel->keeper->queue_end(durable);
}

static inline void gyre_keeper_queue_free(const gyre_kernel *kernel, struct gyre_durable *durable)
{
    if (durable)
        kernel->keeper->queue_free(durable);
}

#endif
