/* SPDX-License-Identifier: Apache-2.0 */
/* Making a queue with its stages. The only file that knows all stages. */
#ifndef GYRE_CORE_STAGES_MAKE_H
#define GYRE_CORE_STAGES_MAKE_H

#include "core/queue/life.h"

/** INVALID for a capacity that is no power of two or sizes out of range, EXHAUSTED for want of memory. */
gyre_status gyre_queue_create(const struct gyre_queue_options *options, gyre_queue **out);

/**
 * The client's side of a region that another program's gyre_queue_create made from the same options (`lent` there, not
 * here). The descriptor is dup'ed. INVALID when the region does not fit the options.
 */
gyre_status gyre_queue_create_at(const struct gyre_queue_options *options, int descriptor, gyre_queue **out);

#endif
