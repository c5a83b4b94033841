/* SPDX-License-Identifier: Apache-2.0 */
/* Makes room in a full queue for a sender, or refuses the sender, by the queue's policy. senders.h keeps the order of waiting
 * senders. */
#ifndef GYRE_CORE_QUEUE_ROOM_H
#define GYRE_CORE_QUEUE_ROOM_H

#include "core/queue/senders.h"

/** Without a lock: whether a send of one small request would find room now, unless another sender is quicker. */
bool gyre_queue_has_room(const gyre_queue *queue);

/**
 * Waits until a send may find room, or makes room by the policy. `bytes`: what the send needs in the ring of bytes. AGAIN,
 * TIMEOUT, DROPPED, CLOSED, LOST. Afterwards the sender may be in the line of waiting senders, so the caller ends with
 * gyre_senders_passed or gyre_senders_leave.
 */
gyre_status gyre_queue_make_room(gyre_queue *queue, struct gyre_sender *sender, uint64_t bytes,
                                 uint64_t deadline_ns);

#endif
