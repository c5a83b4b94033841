/* SPDX-License-Identifier: Apache-2.0 */
/* How a full queue treats a sender. */
#ifndef GYRE_CORE_QUEUE_ROOM_H
#define GYRE_CORE_QUEUE_ROOM_H

#include "core/queue/senders.h"

/** Without a lock: a send of one small request would find room now, if no other is quicker. */
bool gyre_queue_has_room(const gyre_queue *queue);

/**
 * Waits until a send that needs `bytes` of a ring of bytes may find room, or the policy made some. AGAIN,
 * TIMEOUT, DROPPED, CLOSED, LOST. The sender may be in line then: gyre_senders_passed, or gyre_senders_leave.
 */
gyre_status gyre_queue_make_room(gyre_queue *queue, struct gyre_sender *sender, uint64_t bytes,
                                 uint64_t deadline_ns);

#endif
