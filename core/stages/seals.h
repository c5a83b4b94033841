/* SPDX-License-Identifier: Apache-2.0 */
/* Seals: the stage that gives each request a checksum, and checks the checksum of each reply. */
#ifndef GYRE_CORE_STAGES_SEALS_H
#define GYRE_CORE_STAGES_SEALS_H

#include "core/queue/queue.h"

/** Adds the stage, which has no state of its own. */
void gyre_seals_create(gyre_queue *queue);

/** Seals requests [first, end), `stride` bytes apart, before they are published. Their headers are written already. */
void gyre_seals_write(const gyre_queue *queue, uint64_t first, uint64_t end, const void *requests,
                      size_t stride);
/** Whether request `index` was sealed with this header and payload, which are copies: a worker may write into the slot. */
bool gyre_seals_hold(const gyre_queue *queue, uint64_t index, const void *header, const void *request,
                     uint32_t length);
/** Seals the reply that the host itself put into the slot of `index`. No device runs. */
void gyre_seals_reply(const gyre_queue *queue, uint64_t index);

#endif
