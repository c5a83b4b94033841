/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving out of turn. */
#ifndef GYRE_CORE_QUEUE_MATCH_H
#define GYRE_CORE_QUEUE_MATCH_H

#include "core/queue/queue.h"

/** As gyre_receive_with; takes any completion that is there. */
gyre_status gyre_queue_receive_any(gyre_queue *queue, void *reply, size_t size, gyre_completion *completion,
                                   gyre_message_info *info, uint64_t deadline_ns);

/** A condition (wait.h) for a queue whose receivers take any completion: one is there. */
int gyre_wait_whichever(const gyre_queue *queue, uint64_t argument);

#endif
