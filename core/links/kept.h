/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stages of a pipeline keep outlives their worker process: checkpoints of all of them count at one moment, at which no flow is under
 * way. Requests since that moment are handled again when another worker has the stages (renew.c), before new ones are: those that had a
 * completion once more, those that had none for the first time that counts.
 *
 * A pipeline has several queues where it is known when each request was taken (`timing`): then those of all queues are handled again in that
 * order. Each node that clients enter by has one more queue for that, by which the pipeline alone sends.
 *
 * A checkpoint holds up who sends, waits until all that was sent is completed and no tap has messages left, lets the stages that keep something
 * stand, and copies what they keep. One stage leads (core/kernel/keeper.h): its thread sees when a checkpoint is due.
 *
 * The first queue may have a journal (durability). Then the program may be killed as well: the journal holds the requests, and with each
 * checkpoint what all stages keep. A pipeline that is opened with the journal of an earlier run lets the stages have what it holds, and requests
 * since then are handled again as after the death of a worker, before anybody has the queue. Such a pipeline has no other queue, and its links
 * do not change while it is open (keep_journal.c).
 *
 * Locks: keep.saving, for one checkpoint at a time; then pipeline->lock while stages stand.
 */
#ifndef GYRE_CORE_LINKS_KEPT_H
#define GYRE_CORE_LINKS_KEPT_H

#include <stdbool.h>

#include "gyre/pipeline.h"

struct gyre_entry_wish;
struct gyre_kept_stages;
struct gyre_pipeline_entry;

/**
 * The stages of a pipeline whose first queue may have a journal, in *stages: some have checkpoints, and all are in a worker process. NULL:
 * it is none of those.
 */
const struct gyre_kept_stages *gyre_keep_find_stages(const gyre_pipeline *pipeline,
                                                     struct gyre_kept_stages *stages);
/**
 * The pipeline's first queue is open, and nobody has it yet: finds the stages that have checkpoints, and prepares these. No effect without
 * such stages, or without a worker process. INVALID: another stage keeps something and has none; CONFIG; EXHAUSTED. With the journal of an
 * earlier run the pipeline goes on where that ended. Else INCOMPATIBLE, AGAIN or LOST: a worker died meanwhile, and the journal is as it was.
 */
gyre_status gyre_keep_begin(gyre_pipeline *pipeline);
/**
 * Behind gyre_keep_begin: lets the pipeline go on with its journal, and has requests of an earlier run handled again. Nobody has the pipeline
 * yet. No effect without a journal.
 */
gyre_status gyre_keep_begin_journal(gyre_pipeline *pipeline);
/**
 * Whether the pipeline may have one more queue, at this node: INVALID for one of another program, and where it would not be known in which
 * order requests of several queues were taken. OK without checkpoints. Under pipeline->lock.
 */
gyre_status gyre_keep_check_entry(const gyre_pipeline *pipeline, int node,
                                  const struct gyre_entry_wish *wish);
/**
 * All blocks know a queue that nobody has yet: from here on its requests are handled again as well. No effect without checkpoints. CONFIG,
 * INVALID, EXHAUSTED. Under pipeline->lock.
 */
gyre_status gyre_keep_add_entry(gyre_pipeline *pipeline, struct gyre_pipeline_entry *entry);
/** Takes a checkpoint. AGAIN: a stage was revived or changed meanwhile; TIMEOUT: flows are under way; CLOSED: it is being closed. */
gyre_status gyre_keep_save(gyre_pipeline *pipeline, uint64_t deadline_ns);
/**
 * Nothing is under way any more and nothing will be sent: takes a checkpoint while requests are still handled again when the worker dies,
 * so that none has to be when it dies later.
 */
void gyre_keep_drained(gyre_pipeline *pipeline);
/**
 * No block knows the links any more: takes a last checkpoint, and leaves the stages their checkpoints.
 */
void gyre_keep_end(gyre_pipeline *pipeline);

/** Whether requests have to be handled again. Before stages of a new worker are shown their links, under pipeline->lock. */
bool gyre_keep_prepare(gyre_pipeline *pipeline);
/** Has them handled again, behind gyre_keep_prepare. LOST when the worker died. */
gyre_status gyre_keep_repeat(gyre_pipeline *pipeline);
/** The stages have their links, and what they kept. */
void gyre_keep_caught_up(const gyre_pipeline *pipeline);

#endif
