/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that look different in the ring and at their callers: packets (bytes in a wire form, behind their number),
 * types to which one side has appended fields, and requests that are brought up to date on their way.
 */
#ifndef GYRE_CORE_QUEUE_CONVERT_H
#define GYRE_CORE_QUEUE_CONVERT_H

#include "core/queue/queue.h"
#include "gyre/message.h"

/**
 * Copies `count` requests of a caller, `size` bytes apart, as the kernel's type, request_size bytes apart. INVALID for
 * a request that is no message of the caller's type.
 */
gyre_status gyre_queue_convert(const gyre_queue *queue, const void *from, size_t size, size_t count,
                               void *to);

/**
 * Copies a reply of the kernel's type as the caller's type, where reply_growth says that they differ. *length: of the
 * kernel's reply, then of the caller's.
 */
gyre_status gyre_queue_shrink_reply(const gyre_queue *queue, const void *message, uint32_t *length,
                                    void *reply, size_t size);

/** The bytes of a reply in a queue of packets, and their number in *length. */
static inline const unsigned char *gyre_packet_bytes(const void *packet, uint32_t *length)
{
    *length -= *length < GYRE_PACKET_FRONT ? *length : GYRE_PACKET_FRONT;
    return (const unsigned char *)packet + GYRE_PACKET_FRONT;
}

/**
 * From now on every request with a tail goes through `settle`; the caller sees to requests that are in the ring
 * already. Takes the producer's lock.
 */
void gyre_queue_settle_requests(gyre_queue *queue,
                                void (*settle)(const gyre_queue *queue, void *request, uint64_t length));
/** Whether there is such a function now. */
static inline bool gyre_queue_settles(const gyre_queue *queue)
{
    return queue->ring.request_least && __atomic_load_n(&queue->forms.settle, __ATOMIC_ACQUIRE) &&
           !queue->forms.packets;
}
/** Lets a request that is in its place go through that function. */
void gyre_queue_settle(const gyre_queue *queue, void *request);

void gyre_queue_growth_finish(struct gyre_queue_growth *growth);

#endif
