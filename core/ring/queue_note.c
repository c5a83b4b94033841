/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is noted of messages besides the messages: their times and headers. One look (queue->annotated) keeps
 * all of it away from queues that have neither. Locks: the caller's.
 */
#include "core/ring/queue.h"

void gyre_queue_note_sent(gyre_queue *queue, uint64_t first, uint64_t end)
{
    if (queue->timing)
        gyre_queue_timing_sent(queue, first, end);
    if (queue->headers)
        gyre_queue_headers_sent(queue, first, end);
}

void gyre_queue_note_taken(gyre_queue *queue, uint64_t first, uint64_t end)
{
    if (queue->timing)
        gyre_queue_timing_received(queue, first, end);
    if (queue->consumer.wanted && first != end) {
        gyre_queue_info(queue, first, queue->consumer.wanted);
        queue->consumer.wanted = NULL;
    }
}
