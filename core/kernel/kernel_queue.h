/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, lists, closes and frees the queues of a kernel. "The lock" is kernel->lock. */
#ifndef GYRE_CORE_KERNEL_KERNEL_QUEUE_H
#define GYRE_CORE_KERNEL_KERNEL_QUEUE_H

#include "core/kernel/kernel.h"
#include "core/ring/ring_options.h"

/** The kernel's open queues, linked by `next` of their views. Under the lock, or while no queue comes or goes. */
static inline gyre_queue *gyre_kernel_first_queue(const gyre_kernel *kernel)
{
    return kernel->queues.first;
}

/** What a queue shows of its kernel: the kernel's own types, or those of a pipeline that the kernel is the entry of. */
struct gyre_kernel_face {
    const gyre_kernel_record *record;
    struct gyre_kernel_types *types;
    bool passes_on; /* other programs may see what its messages cause: no bytes of earlier ones */
    bool
        enters_pipeline; /* then each message lies in a slot of its own, and is completed by whichever kernel ends its flow */
    const struct gyre_kept_stages *kept; /* of an entry that may have a journal (keeper.h); else NULL */
    bool
        repeats; /* an entry by which its pipeline alone sends: what its section says of journals is not for it */
};

/**
 * Does what gyre_kernel_add_ring does, for a queue that enters a pipeline. CONFIG when the section asks for what such a queue
 * cannot have. `lent`: its client is another program, and the rest is as gyre_kernel_lend_ring says; NULL: it is this one.
 */
gyre_status gyre_kernel_add_entry(gyre_kernel *kernel, const struct gyre_kernel_face *face,
                                  const gyre_queue_desc *desc, const char *section,
                                  struct gyre_queue_options *lent, gyre_queue **out);
/** Makes a queue, puts it into the queue table, and tells a running device. Takes the lock. */
gyre_status gyre_kernel_add_queue(gyre_kernel *kernel, const gyre_queue_desc *desc, gyre_queue **out);
/** Does what gyre_kernel_add_queue does, with the settings of [queue.SECTION], whatever the queue's own name. */
gyre_status gyre_kernel_add_ring(gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                 gyre_queue **out);
/**
 * Does what gyre_kernel_add_ring does, for a queue whose client is another program (core/queue/lent.h). options->trusted says
 * whether that program is trusted; afterwards *options says how the queue was made. UNAVAILABLE when the device would read a
 * message in memory that an untrusted program can still write. Not for a section where gyre_kernel_relays is true.
 */
gyre_status gyre_kernel_lend_ring(gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                  struct gyre_queue_options *options, gyre_queue **out);
/** Decides the options of a queue (`lent`: its client is another program), and makes no queue. After a failure *options holds
 * no memory. */
gyre_status gyre_kernel_plan_ring(const gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                  bool lent, struct gyre_queue_options *options);
/** Takes a queue off its kernel and frees it. Takes the lock. */
void gyre_kernel_close_queue(gyre_queue *queue);
/**
 * Frees the closed queues whose memory was kept for a handler that did not return, and has returned since. Returns whether such
 * queues are left, of a kernel that runs. Takes the lock.
 */
bool gyre_kernel_free_let_go(gyre_kernel *kernel);
/** Takes a queue off its kernel and leaves its memory to a block that may use it for ever. Calls on it return. Takes the lock. */
void gyre_kernel_leave_queue(gyre_queue *queue);
/** Makes a queue in memory that the device can see. The queue is in no list and in no table yet. */
gyre_status gyre_kernel_make_queue(gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                   gyre_queue **out);
/** Frees a queue that is in no list, or whose device has left. */
void gyre_kernel_free_queue(gyre_kernel *kernel, gyre_queue *queue);
/** Frees every queue of a kernel whose device side has left. */
void gyre_kernel_free_queues(gyre_kernel *kernel);
/** Makes every call that waits on a queue of the kernel return; later calls return CLOSED. */
void gyre_kernel_abandon_queues(gyre_kernel *kernel);
/** Points every entry of the queue table at the next unsent index, for a device that starts anew. Under the lock. */
void gyre_kernel_rewind_queues(gyre_kernel *kernel);

#endif
