/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and frees a queue, without its stages (options of a queue, stage.h). Other folders make a whole queue by
 * gyre_queue_create in core/stages/make.h. */
#ifndef GYRE_CORE_QUEUE_LIFE_H
#define GYRE_CORE_QUEUE_LIFE_H

#include "core/queue/queue.h"

/**
 * Makes a queue without stages, on a new ring (`descriptor` -1) or on a ring that another program made. INVALID for a
 * capacity that is no power of two or sizes out of range, and for a region that does not fit the options; EXHAUSTED for
 * want of memory.
 */
gyre_status gyre_queue_make(const struct gyre_queue_options *options, int descriptor, gyre_queue **out);

/** The last step of making a queue: the queue owns the layouts in the options from now on. Cannot fail. */
void gyre_queue_own_growth(gyre_queue *queue, const struct gyre_queue_options *options);

/**
 * Closes the queue, completes unanswered requests, waits until every thread that waits in a call on the queue has returned,
 * and frees the queue. The device has left. Accepts NULL.
 */
void gyre_queue_destroy(gyre_queue *queue);

/**
 * As gyre_queue_destroy, but completes no request. For a ring that another program, its client, may still use.
 */
void gyre_queue_release(gyre_queue *queue);

#endif
