/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a worker's view of a queue (cpu_queue.h). No state. */
#include "backends/cpu/workers/cpu_queue.h"

static void open_bridge(struct cpu_queue *queue, uint32_t block)
{
    const gyre_bridge *layout = &queue->layout;
    unsigned char *region = (unsigned char *)queue->region;
    gyre_cpu_bridge *bridge = &queue->bridge;
    *bridge = (gyre_cpu_bridge){
        .request_bytes = layout->request_bytes, .reply_bytes = layout->reply_bytes, .track = block};
    if (layout->request_bytes)
        bridge->requests = region + layout->request_offset;
    if (!layout->reply_bytes || block >= layout->tracks)
        return;
    const gyre_bridge_track *track = cpu_queue_track(queue, block);
    bridge->replies = region + layout->reply_offset + (uint64_t)block * layout->reply_stride;
    bridge->spare = region + layout->spare_offset;
    bridge->tail = &track->tail;
    bridge->received = &cpu_queue_words(queue)->received;
    /* as this worker left it, or the worker before it */
    bridge->head = __atomic_load_n(&track->head, __ATOMIC_ACQUIRE);
    bridge->tail_seen = __atomic_load_n(&track->tail, __ATOMIC_ACQUIRE);
}

static gyre_stamp *stamps_of(const struct cpu_queue *queue)
{
    const gyre_u64 offset = queue->slots.stamps_offset;
    return offset ? (gyre_stamp *)(void *)((unsigned char *)queue->region + offset) : NULL;
}

static const unsigned char *headers_of(const struct cpu_queue *queue)
{
    const gyre_u64 offset = queue->slots.headers_offset;
    return offset ? (const unsigned char *)queue->region + offset : NULL;
}

/* Returns the checksums of the queue's messages: first those of requests, then those of replies. */
static gyre_u32 *seals_of(const struct cpu_queue *queue)
{
    if (!queue->slots.sealed)
        return NULL;
    return (gyre_u32 *)(void *)((unsigned char *)queue->region + GYRE_SEALS_OFFSET(&queue->slots));
}

/* Fills in the runner's argument, which stays the same for as long as the worker has the queue. */
static void open_run(struct cpu_worker *worker, struct cpu_queue *queue)
{
    const struct gyre_resident *resident = worker->resident;
    const gyre_queue_slots *slots = &queue->slots;
    gyre_u32 *const seals = seals_of(queue);
    queue->run = (gyre_cpu_run){.requests = (const unsigned char *)queue->region + slots->request_offset,
                                .replies = (unsigned char *)queue->region + slots->reply_offset,
                                .mask = slots->capacity - 1,
                                .request_stride = slots->request_stride,
                                .reply_stride = slots->reply_stride,
                                .host = &queue->region->host,
                                .command = &resident->control->command.command,
                                .state = resident->state,
                                .buffers = resident->bindings,
                                .context = &worker->context,
                                .stamps = stamps_of(queue),
                                .headers = headers_of(queue),
                                .request_seals = seals,
                                .reply_seals = seals ? seals + GYRE_SEALS_ROUND(slots->capacity) : NULL,
                                .header_size = slots->header_size,
                                .bridge = queue->layout.words_offset ? &queue->bridge : NULL,
                                .foreign = slots->foreign,
                                .stage = &worker->stage};
}

void cpu_queue_open(struct cpu_worker *worker, struct cpu_queue *queue)
{
    open_bridge(queue, worker->block);
    open_run(worker, queue);
}
