/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts messages that have one form in the ring and another at their callers: packets (encoded bytes, behind a word with
 * their count), types to which one side has appended fields, and requests that are settled (changed on their way into the
 * ring). The conversion of one message is in core/types/convert.h.
 */
#ifndef GYRE_CORE_QUEUE_CONVERT_H
#define GYRE_CORE_QUEUE_CONVERT_H

#include "core/queue/queue.h"
#include "gyre/message.h"

/**
 * Copies `count` requests of a caller, `size` bytes apart, to `to`, where they are of the kernel's type and lie
 * request_size bytes apart. INVALID when a request is no message of the caller's type.
 */
gyre_status gyre_queue_convert(const gyre_queue *queue, const void *from, size_t size, size_t count,
                               void *to);

/**
 * Converts a reply of the kernel's type to the caller's type. Only for a queue with reply_growth: the two types have tails,
 * and one has fields appended. *length: before the call the length of the kernel's reply, after it the caller's.
 */
gyre_status gyre_queue_shrink_reply(const gyre_queue *queue, const void *message, uint32_t *length,
                                    void *reply, size_t size);

/**
 * The encoded bytes of a reply in a queue of packets. *length: before the call the packet's length, after it the count of
 * the encoded bytes.
 */
static inline const unsigned char *gyre_packet_bytes(const void *packet, uint32_t *length)
{
    *length -= *length < GYRE_PACKET_FRONT ? *length : GYRE_PACKET_FRONT;
    return (const unsigned char *)packet + GYRE_PACKET_FRONT;
}

/**
 * Makes every request with a tail go through `settle` on its way into the ring, from now on. The caller settles requests
 * that are already in the ring. Takes the producer's lock.
 */
void gyre_queue_settle_requests(gyre_queue *queue,
                                void (*settle)(const gyre_queue *queue, void *request, uint64_t length));
/** Whether requests go through a `settle` function now. */
static inline bool gyre_queue_settles(const gyre_queue *queue)
{
    return queue->ring.request_least && __atomic_load_n(&queue->forms.settle, __ATOMIC_ACQUIRE) &&
           !queue->forms.packets;
}
/** Settles a request that is built in its place in the ring. */
void gyre_queue_settle(const gyre_queue *queue, void *request);

/** Frees both layouts of *growth and sets them to NULL. */
void gyre_queue_growth_finish(struct gyre_queue_growth *growth);

#endif
