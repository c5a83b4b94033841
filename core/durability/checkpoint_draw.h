/* SPDX-License-Identifier: Apache-2.0 */
/* A checkpoint in three steps, so that the checkpoints of several kernels count at one moment (keeper.h, which has the contracts). */
#ifndef GYRE_CORE_DURABILITY_CHECKPOINT_DRAW_H
#define GYRE_CORE_DURABILITY_CHECKPOINT_DRAW_H

#include "core/durability/checkpoint.h"

bool gyre_checkpoint_draw_begin(gyre_kernel *kernel);
gyre_status gyre_checkpoint_draw_copy(gyre_kernel *kernel);
void gyre_checkpoint_draw_end(gyre_kernel *kernel, bool counts, uint64_t begun_ns);
bool gyre_checkpoints_cover(const gyre_kernel *kernel, const gyre_memory *memory);

/** Notes what the queues handled, which the copy that is made now covers. Under the lock. */
void gyre_checkpoint_look(const gyre_kernel *kernel);
/** Copies what a kernel keeps that stands, or has left, into the store's next half, and seals it. Without the lock. */
gyre_status gyre_checkpoint_read(gyre_kernel *kernel);
/** Notes how long the handlers stand, or stood, that were made to stand at `begun_ns`. Under the lock. */
void gyre_checkpoint_note_pause(struct gyre_checkpoints *checkpoints, uint64_t begun_ns);
/** Makes the stored copy the last checkpoint, and that which was looked at the requests that it covers. Under the lock. */
void gyre_checkpoint_count(const gyre_kernel *kernel, struct gyre_checkpoints *checkpoints);

#endif
