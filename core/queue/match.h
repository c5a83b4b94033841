/* SPDX-License-Identifier: Apache-2.0 */
/* Receives completions out of turn: the reply with a certain correlation, or any reply that is there. receive.c receives in
 * the order of the sends. */
#ifndef GYRE_CORE_QUEUE_MATCH_H
#define GYRE_CORE_QUEUE_MATCH_H

#include "core/queue/queue.h"

/** As gyre_receive_with, but takes any completion that is there. */
gyre_status gyre_queue_receive_any(gyre_queue *queue, void *reply, size_t size, gyre_completion *completion,
                                   gyre_message_info *info, uint64_t deadline_ns);

/** A condition to wait for (wait.h): a completion that a receiver may take is there, in whatever order. */
int gyre_wait_whichever(const gyre_queue *queue, uint64_t argument);

#endif
