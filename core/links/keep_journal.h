/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a pipeline with checkpoints (kept.h). */
#ifndef GYRE_CORE_LINKS_KEEP_JOURNAL_H
#define GYRE_CORE_LINKS_KEEP_JOURNAL_H

#include "core/links/kept.h"

/** What a checkpoint of all stages holds. */
enum gyre_keep_source {
    GYRE_KEEP_STILL,    /* what they keep; AGAIN when flows are under way */
    GYRE_KEEP_AS_IT_IS, /* what they keep: nobody sends any more, or nobody has sent yet */
    GYRE_KEEP_FROM_JOURNAL /* what the journal of the first queue holds of an earlier run, which they keep from then on */
};

/**
 * Takes a checkpoint, and gathers it for a journal where no flow is under way (keep.gathered). AGAIN: a stage was revived or changed meanwhile;
 * LOST: the worker died. Under pipeline->lock, or before anybody has the pipeline.
 */
gyre_status gyre_keep_draw(gyre_pipeline *pipeline, enum gyre_keep_source source, uint64_t deadline_ns);
/** Until when stages may take to stand. There is a leader. */
uint64_t gyre_keep_deadline(const gyre_pipeline *pipeline);
/** The stages have no checkpoints of the pipeline any more. Under pipeline->lock, or before anybody has the pipeline. */
void gyre_keep_end_leading(gyre_pipeline *pipeline);
/** INVALID, with the name of the call, for a pipeline with a journal: its links do not change. */
gyre_status gyre_keep_check_change(const gyre_pipeline *pipeline, const char *call);

#endif
