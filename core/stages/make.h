/* SPDX-License-Identifier: Apache-2.0 */
/* Making a queue with its stages. The only file that knows all stages. */
#ifndef GYRE_CORE_STAGES_MAKE_H
#define GYRE_CORE_STAGES_MAKE_H

#include "core/queue/life.h"

/** Makes a queue with its stages. INVALID for a capacity that is no power of two or sizes out of range; EXHAUSTED. */
gyre_status gyre_queue_create(const struct gyre_queue_options *options, gyre_queue **out);

/**
 * Makes the client's side of a queue whose region another program made: that program called gyre_queue_create with the same
 * options and `lent` true; here `lent` is false. Duplicates the descriptor. INVALID when the region does not fit the options.
 */
gyre_status gyre_queue_create_at(const struct gyre_queue_options *options, int descriptor, gyre_queue **out);

#endif
