/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserves room for the replies of queues whose messages are stored back to back (bridged queues: bytes in a
 * ring of their own, not in slots). An epoch (a batch of requests) goes out only when all its requests have
 * room for the largest replies. So the device never waits for room, and handled requests are always answered.
 * On a direct device each block of the launch has a track (a part of the reply bytes); elsewhere the pump has
 * one track (opencl_gather.c).
 *
 * Takes no lock: only the pump's thread calls it. The side that stores replies writes a track's head, which
 * grows by the stored bytes; clients write its tail.
 */
#include "backends/opencl/epochs/opencl_bridge.h"
#include "backends/opencl/epochs/opencl_epoch.h"

static gyre_bridge_words *words_of(const struct opencl_queue *queue)
{
    unsigned char *base = (unsigned char *)queue->memory->region;
    return (gyre_bridge_words *)(void *)(base + queue->bridge.words_offset);
}

/*
 * Returns how many replies of the largest size fit behind the contents of the track. Acquire: the client has
 * read the bytes that it freed.
 */
static uint64_t fitting_requests(const gyre_resident *resident, const struct opencl_queue *queue,
                                 uint32_t number)
{
    const gyre_bridge_track *track = (const gyre_bridge_track *)(const void *)(words_of(queue) + 1) + number;
    const uint64_t tail = __atomic_load_n(&track->tail, __ATOMIC_ACQUIRE);
    const uint64_t used = __atomic_load_n(&track->head, __ATOMIC_RELAXED) - tail;
    if (used >= queue->bridge.reply_bytes)
        return 0;
    return (queue->bridge.reply_bytes - used) / GYRE_BRIDGE_UNITS(resident->kernel->record.reply->size);
}

/*
 * Whether the spare place is free: the client waits for the next request's reply, so it has read the reply in
 * the spare place.
 */
static bool may_spare(const struct opencl_queue *queue)
{
    return queue->promised == 0 &&
           __atomic_load_n(&words_of(queue)->received, __ATOMIC_ACQUIRE) == queue->next;
}

uint32_t opencl_bridge_fit(const gyre_resident *resident, struct opencl_queue *queue, uint32_t most)
{
    const bool alone = !resident->device->direct || opencl_is_serial(resident);
    const uint32_t groups = alone ? 1 : resident->blocks;
    uint64_t each = UINT32_MAX;
    queue->each = UINT32_MAX;
    queue->spare = false;
    if (!queue->bridge.reply_bytes)
        return most;
    for (uint32_t i = 0; i < groups && i < queue->bridge.tracks; i++) {
        const uint64_t room = fitting_requests(resident, queue, i);
        each = room < each ? room : each;
    }
    each = each > queue->promised ? each - queue->promised : 0;
    queue->spare = each == 0 && may_spare(queue);
    queue->each = queue->spare ? 1 : (uint32_t)each;
    return queue->spare ? 1 : opencl_least(each * groups, most);
}

uint64_t opencl_bridge_starved(gyre_resident *resident)
{
    uint64_t starved = 0;
    for (uint32_t i = 0; i < resident->queue_count; i++) {
        struct opencl_queue *queue = &resident->queues[i];
        if (queue->memory && queue->bridge.reply_bytes && opencl_request_ready(queue, queue->next) &&
            opencl_bridge_fit(resident, queue, 1) == 0)
            starved |= 1ull << i;
    }
    return starved;
}

void opencl_bridge_tell(const gyre_resident *resident, uint64_t starved, uint32_t by)
{
    for (uint32_t i = 0; starved >> i; i++)
        if (starved >> i & 1) /* adds 1, or takes it back by wrapping */
            __atomic_fetch_add(&words_of(&resident->queues[i])->starved, by, __ATOMIC_SEQ_CST);
}
