/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes the origins of requests (origin.h). A sender writes an origin under the producer's lock, before the request is
 * published. The journal reads it later; a sender is never ahead of the journal by more than the queue's capacity.
 */
#include "core/queue/origin.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/queue/state.h"

static struct gyre_queue_origin *origins_of(const gyre_queue *queue)
{
    return __atomic_load_n(&queue->foreign.origins, __ATOMIC_ACQUIRE); /* pairs with their creation */
}

gyre_status gyre_origins_create(gyre_queue *queue)
{
    if (origins_of(queue))
        return GYRE_OK;
    struct gyre_queue_origin *origins = calloc((size_t)queue->ring.capacity, sizeof *origins);
    if (!origins)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the origins of requests");
    struct gyre_queue_origin *none = NULL;
    if (!__atomic_compare_exchange_n(&queue->foreign.origins, &none, origins, false, __ATOMIC_RELEASE,
                                     __ATOMIC_ACQUIRE))
        free(origins); /* another thread made them at the same time */
    return GYRE_OK;
}

void gyre_origin_set(gyre_queue *queue, uint64_t index, struct gyre_origin origin)
{
    origins_of(queue)[index & queue->ring.mask] = (struct gyre_queue_origin){index + 1, origin};
}

void gyre_origins_set(gyre_queue *queue, uint64_t index, uint64_t count, struct gyre_origin first)
{
    struct gyre_queue_origin *const origins = origins_of(queue);
    const uint64_t mask = queue->ring.mask;
    for (uint64_t i = 0; i < count; i++)
        origins[(index + i) & mask] =
            (struct gyre_queue_origin){index + i + 1, {first.client, first.index + i}};
}

struct gyre_origin gyre_origin_of(const gyre_queue *queue, uint64_t index)
{
    const struct gyre_queue_origin *origins = origins_of(queue);
    const struct gyre_queue_origin *found = origins ? &origins[index & queue->ring.mask] : NULL;
    return found && found->request == index + 1 ? found->origin : (struct gyre_origin){0, 0};
}

void gyre_origins_tell(gyre_queue *queue)
{
    if (origins_of(queue))
        gyre_queue_wake_client(queue); /* the relay waits there, too */
}
