/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of the entry of a pipeline with checkpoints: beside the entry's requests it holds what all stages keep, of one moment. A stage's
 * part of the journal's state is its checkpoint, and the parts follow each other in the order of the stages' names.
 *
 * A journal of stages that keep something else, or of other stages, is refused: nothing is converted.
 *
 * Threads: the pipeline takes one checkpoint at a time (core/links/kept.h), and gathers and writes it meanwhile.
 */
#ifndef GYRE_CORE_DURABILITY_TOGETHER_H
#define GYRE_CORE_DURABILITY_TOGETHER_H

#include "core/durability/durable.h"
#include "core/kernel/kernel_queue.h"

/**
 * Describes the pipeline whose entry is `kernel`, and what its stages keep, for the journal of this queue of the entry. INVALID: a journal
 * cannot hold that; EXHAUSTED.
 */
gyre_status gyre_together_describe(struct gyre_durable *durable, const gyre_kernel *kernel,
                                   const struct gyre_kernel_face *face, const char *queue);
/** INCOMPATIBLE, with what differs, when the journal's content is of another pipeline, or of stages that keep something else. */
gyre_status gyre_together_check(struct gyre_durable *durable);

/* The calls of core/kernel/keeper.h. */
gyre_status gyre_together_draw(gyre_kernel *kernel, const gyre_queue *entry);
bool gyre_together_has_kept(const gyre_queue *entry);
gyre_status gyre_together_gather(const gyre_queue *entry);
gyre_status gyre_together_begin(gyre_queue *entry);
void gyre_together_write(const gyre_queue *entry, bool last);

#endif
