/* SPDX-License-Identifier: Apache-2.0 */
/* Admits requests: checks and converts them before they go into the ring (admit.h). Takes no lock; a stage may wait. */
#include "core/queue/admit.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/queue/check.h"
#include "core/queue/convert.h"
#include "core/queue/stage.h"

bool gyre_queue_converts(const gyre_queue *queue, size_t size)
{
    return queue->forms.packets || queue->forms.request_growth.callers || queue->stages.admit[0] ||
           __builtin_expect(gyre_queue_settles(queue), 0) ||
           (size != 0 && size == queue->forms.caller_request_size);
}

/* Lets the stages change the copies of *count requests. If a stage fails, it holds nothing, and the stages before it take
 * back what they did. */
static gyre_status stages_admit(gyre_queue *queue, void *copies, size_t *count, uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    for (size_t i = 0; status == GYRE_OK && *count && queue->stages.admit[i]; i++)
        status = queue->stages.admit[i](queue, copies, count, deadline_ns);
    return status;
}

/* As gyre_queue_admit, for requests that have another form in the ring. */
static gyre_status requests_convert(gyre_queue *queue, struct gyre_outgoing *requests, uint64_t deadline_ns,
                                    void **out)
{
    size_t count = (size_t)requests->count;
    unsigned char *copies = calloc(count, queue->ring.request_size);
    *out = NULL;
    if (!copies)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for %zu requests as the kernel's type", count);
    gyre_status status = gyre_queue_convert(queue, requests->bytes, requests->size, count, copies);
    if (status == GYRE_OK)
        status = stages_admit(queue, copies, &count, deadline_ns);
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        gyre_queue_settle(queue, copies + i * queue->ring.request_size);
    if (status == GYRE_OK)
        *out = copies;
    else
        free(copies);
    requests->count = count;
    return status;
}

gyre_status gyre_queue_admit(gyre_queue *queue, struct gyre_outgoing *requests, uint64_t deadline_ns,
                             void **converted)
{
    if (gyre_queue_takes_nothing(queue) && requests->size <= sizeof(gyre_none)) {
        requests->bytes = ""; /* the caller's pointer may be NULL */
        requests->size = 0;
        return GYRE_OK;
    }
    if (requests->size == queue->ways.fixed_size || !gyre_queue_converts(queue, requests->size))
        return gyre_queue_check_requests(queue, requests->bytes, requests->size, requests->count);
    gyre_status status = requests_convert(queue, requests, deadline_ns, converted);
    requests->bytes = *converted;
    requests->size = queue->ring.request_size;
    return status;
}

void gyre_queue_recall(gyre_queue *queue, void *converted, uint64_t first, uint64_t end)
{
    for (size_t i = 0; converted && queue->stages.recall[i]; i++)
        queue->stages.recall[i](queue, converted, (size_t)first, (size_t)end);
    free(converted);
}

uint64_t gyre_queue_bytes_for(const gyre_queue *queue, const void *request, size_t size)
{
    if (!gyre_requests_bridged(&queue->ring) || size < sizeof(uint32_t))
        return 0;
    return gyre_bytes_need(gyre_length_of(request, size, true));
}
