/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of pipelines for other programs (core/attach). Such an entry comes and goes with its client, while the pipeline is open.
 *
 * A visited pipeline is not freed before gyre_pipeline_leave. Its end does not wait for clients: it ends their queues
 * (core/queue/lent.h), which their visitors hear, and waits until these have left.
 */
#ifndef GYRE_CORE_LINKS_LEND_H
#define GYRE_CORE_LINKS_LEND_H

#include "core/device/runtime.h"
#include "core/ring/ring_options.h"
#include "gyre/pipeline.h"

/** The open pipeline of that name, or NULL. */
gyre_pipeline *gyre_pipeline_visit(gyre_runtime *runtime, const char *name);
void gyre_pipeline_leave(gyre_pipeline *pipeline);
/** Calls `what` for each pipeline. Under runtime->lock. */
void gyre_pipelines_each(gyre_runtime *runtime, void (*what)(gyre_pipeline *pipeline));
/** Copies the names of the first `room` open pipelines. Returns how many it copied. */
size_t gyre_pipelines_name(gyre_runtime *runtime, char names[][GYRE_PIPELINE_NAME_MAX], size_t room);
/** Its name, which is constant. */
const char *gyre_pipeline_name(const gyre_pipeline *pipeline);
/** Whether it has a topic, or an outlet, of that name. */
bool gyre_pipeline_has_topic(const gyre_pipeline *pipeline, const char *topic);

/**
 * Opens a queue to the entry of that name (NULL: the first one) for another program, with the settings of [queue.PIPELINE].
 * options->trusted says whether that program is trusted; afterwards *options says how the queue was made. *kernel: the entry's
 * kernel, which the caller visits. NOT_FOUND for another name; UNAVAILABLE on a backend whose entries are for this program alone;
 * EXHAUSTED; CLOSED for a pipeline that is being closed. The pipeline owns the queue, until gyre_pipeline_take_back.
 */
gyre_status gyre_pipeline_lend(gyre_pipeline *pipeline, const char *entry, const gyre_queue_desc *desc,
                               struct gyre_queue_options *options, gyre_kernel **kernel, gyre_queue **out);

/** Whether gyre_pipeline_lend gives other programs queues at all: else its error. The backend may still have none for them. */
gyre_status gyre_pipeline_check_lent(gyre_pipeline *pipeline);

enum gyre_taken_back { GYRE_BACK_FREED, GYRE_BACK_WAITS, GYRE_BACK_BUSY, GYRE_BACK_LEFT };
/**
 * Takes a lent queue back. The first call ends its sends and hides it from the device. FREED: its flows are settled, and nothing
 * is left of it. WAITS: some are under way; BUSY: a handler has not returned, and its block may know the queue. Call again later
 * after both, or leave it to the pipeline. LEFT: the pipeline frees it when it ends, because the device died or the end has
 * begun. Unless it says FREED, the queue stays valid until the visitor leaves.
 */
enum gyre_taken_back gyre_pipeline_take_back(gyre_pipeline *pipeline, gyre_queue *queue);

#endif
