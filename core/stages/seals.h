/* SPDX-License-Identifier: Apache-2.0 */
/* Seals: the stage that gives messages a checksum, and looks at that of replies. */
#ifndef GYRE_CORE_STAGES_SEALS_H
#define GYRE_CORE_STAGES_SEALS_H

#include "core/queue/queue.h"

/** Adds the stage, which has no state of its own. */
void gyre_seals_create(gyre_queue *queue);

/** Seals requests [first, end), `stride` bytes apart, that are about to be published; their headers are written. */
void gyre_seals_write(const gyre_queue *queue, uint64_t first, uint64_t end, const void *requests,
                      size_t stride);
/** No device: the reply that the host put into the slot of `index` gets its seal. */
void gyre_seals_reply(const gyre_queue *queue, uint64_t index);

#endif
