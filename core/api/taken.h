/* SPDX-License-Identifier: Apache-2.0 */
/* Tells how far a queue's client has come, to a thread that is not the client. No locks. */
#ifndef GYRE_CORE_API_TAKEN_H
#define GYRE_CORE_API_TAKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/gyre.h"

/** How many completions the queue's client has taken; `more`, unless NULL: whether others are there. */
uint64_t gyre_queue_taken(const gyre_queue *queue, bool *more);

#endif
