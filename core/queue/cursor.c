/* SPDX-License-Identifier: Apache-2.0 */
/* Waits at the cursor of a queue (cursor.h). No locks. */
#include "core/queue/cursor.h"

#include "core/base/error.h"
#include "core/queue/label.h"
#include "core/queue/side.h"
#include "core/queue/wait.h"

gyre_status gyre_cursor_wait(gyre_queue *queue, uint64_t index, uint64_t deadline_ns)
{
    if (deadline_ns == GYRE_NO_WAIT)
        return gyre_queue_look(queue, gyre_wait_reply, index);
    __atomic_fetch_add(&queue->consumer.waits, 1, __ATOMIC_RELAXED);
    if (!gyre_wait_turn(queue, index))
        return gyre_queue_wait(queue, gyre_wait_turn, index, GYRE_BELL_CREDIT, deadline_ns);
    return gyre_queue_wait(queue, gyre_wait_reply, index, GYRE_BELL_DEVICE, deadline_ns);
}

gyre_status gyre_cursor_tell_nothing(gyre_queue *queue, gyre_status status)
{
    char label[GYRE_LABEL_SIZE];
    if ((status != GYRE_AGAIN && status != GYRE_TIMEOUT) || !gyre_is_peeking(queue))
        return status;
    return gyre_error_set(status,
                          "%s has a peek that was not released yet; release it, also with a count of 0",
                          gyre_queue_label(queue, label, sizeof label));
}
