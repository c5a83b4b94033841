/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several kernels that stand at message boundaries at the same time, while their memory is read and written (gyre/collect.h). Each is
 * held as for a checkpoint (standstill.h): no handler runs, and no other thread changes or ends the kernel. The death of its worker
 * process alone is not held up: recovery revives the kernel, which then stands no more. So transfers go to the worker in which the kernel
 * stood, and what is to count for all kernels counts by one call that looks at all of them.
 *
 * Call without locks.
 */
#ifndef GYRE_CORE_KERNEL_STANDING_H
#define GYRE_CORE_KERNEL_STANDING_H

#include "core/device/buffer.h"
#include "core/kernel/kernel.h"

struct gyre_standing {
    gyre_kernel *kernel;
    const char *name;
    gyre_runtime *runtime;
    uint64_t generation, incarnation; /* of the kernel, and of its worker process, since it stands */
    uint64_t begun_ns;                /* when it was told to stand */
    bool stands;                      /* or was told to */
    bool drawn;                       /* a checkpoint is begun and does not count yet */
};

struct gyre_standing gyre_standing_of(gyre_kernel *kernel);
/**
 * Tells the kernel to stand. Kernels that are to stand together are told first, in one order for all threads, and then waited for: their
 * handlers end at the same time. AGAIN: it is being revived; TIMEOUT: other threads have the kernel; CLOSED: it does not run; LOST.
 */
gyre_status gyre_standing_order(struct gyre_standing *standing, uint64_t deadline_ns);
/** Waits until a kernel that was told stands. AGAIN: it was changed or revived meanwhile; TIMEOUT: a handler does not return; LOST. */
gyre_status gyre_standing_await(struct gyre_standing *standing, uint64_t deadline_ns);
/** Lets the kernel go on, if it stands or was told to. A checkpoint that does not count is thrown away. */
void gyre_standing_end(struct gyre_standing *standing);
/** Transfers bytes of a buffer of the kernel. LOST: its device died, or its worker process, also when that is replaced already. */
gyre_status gyre_standing_transfer(const struct gyre_standing *standing, const gyre_buffer *buffer,
                                   const gyre_transfer_desc *desc);
/**
 * Draws a checkpoint, which gyre_standings_count lets count. No effect for a kernel without checkpoints. TIMEOUT: another one was being stored
 * all the time. `entry`: its journal says what the checkpoint holds, and gyre_standing_restore has to follow; NULL: what the kernel keeps.
 */
gyre_status gyre_standing_draw(struct gyre_standing *standing, const gyre_queue *entry, uint64_t deadline_ns);
/** What the kernel keeps becomes what its last checkpoint holds. No effect without checkpoints. LOST: a worker that follows sees to it. */
gyre_status gyre_standing_restore(const struct gyre_standing *standing);
/** Lets all drawn checkpoints count. AGAIN, and none counts: one of the kernels was revived or lost since it stands. */
gyre_status gyre_standings_count(struct gyre_standing *const *standings, uint32_t count);
/** Whether to begin anew after a failure of one of the calls above: another thread, or the end of a worker process, came first. */
bool gyre_standing_may_retry(const struct gyre_standing *standing, gyre_status status);
/** While the kernel stands: whether a worker process that follows brings the buffer back as it was when the kernel stood, from a checkpoint. */
bool gyre_standing_covers(const struct gyre_standing *standing, const gyre_buffer *buffer);
/**
 * While the kernel stands: where the buffer lies in this process, to be read and written in place; NULL: elsewhere, or the kernel has
 * checkpoints, so that what is written counts later.
 */
unsigned char *gyre_standing_place(const struct gyre_standing *standing, const gyre_buffer *buffer);
/** The device of the kernel. While the kernel does not stand it may be another one the next moment. */
struct gyre_dispatch *gyre_standing_device(const struct gyre_standing *standing);
/** INVALID, with the call's name, for a kernel with a journal, which would be written at another moment than those of others. */
gyre_status gyre_standing_check_journal(const struct gyre_standing *standing, const char *call);

#endif
