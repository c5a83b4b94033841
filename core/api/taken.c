/* SPDX-License-Identifier: Apache-2.0 */
#include "core/api/taken.h"

#include <stddef.h>

#include "core/queue/state.h"
#include "core/queue/wait_any.h"

uint64_t gyre_queue_taken(const gyre_queue *queue, bool *more)
{
    if (more)
        *more = gyre_queue_has_completion(queue);
    return gyre_received(queue);
}
