/* SPDX-License-Identifier: Apache-2.0 */
/* How far a queue's client has come, for a thread that is not the client. No locks. */
#include <stddef.h>

#include "core/api/tools.h"
#include "core/queue/state.h"
#include "core/queue/wait_any.h"

uint64_t gyre_queue_taken(const gyre_queue *queue, bool *more)
{
    if (more)
        *more = gyre_queue_has_completion(queue);
    return gyre_received(queue);
}
