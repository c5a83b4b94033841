/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An epoch and its messages, for the files that carry it to the device and back. The pump's thread alone, unless a
 * header says otherwise.
 *
 * These files from the ground up: opencl_shape.c, opencl_commands.c, opencl_tell.c, opencl_replies.c,
 * opencl_courier.c, opencl_copies.c, opencl_gather.c, opencl_epoch.c; the pump is above them. Each calls only files
 * before it.
 */
#ifndef GYRE_OPENCL_EPOCH_H
#define GYRE_OPENCL_EPOCH_H

#include "opencl_resident.h"

static inline gyre_slot *opencl_slot(const struct opencl_queue *queue, gyre_u64 offset, uint32_t stride,
                                     gyre_u64 index)
{
    unsigned char *base = (unsigned char *)queue->memory->region + offset;
    return (gyre_slot *)(void *)(base + (index & (queue->slots.capacity - 1)) * stride);
}

static inline gyre_slot *opencl_request_slot(const struct opencl_queue *queue, gyre_u64 index)
{
    return opencl_slot(queue, queue->slots.request_offset, queue->slots.request_stride, index);
}

static inline gyre_slot *opencl_reply_slot(const struct opencl_queue *queue, gyre_u64 index)
{
    return opencl_slot(queue, queue->slots.reply_offset, queue->slots.reply_stride, index);
}

/** Relaxed: a client may take a request back whose deadline passed, until it is handled; either length is right. */
static inline uint32_t opencl_request_length(const struct opencl_queue *queue, gyre_u64 index)
{
    return __atomic_load_n(&opencl_request_slot(queue, index)->length, __ATOMIC_RELAXED);
}

/** Whether a worker that died since answered the request: the reply is complete and stays as it is. */
static inline bool opencl_is_answered(const struct opencl_queue *queue, gyre_u64 index)
{
    return opencl_request_length(queue, index) == GYRE_LENGTH_ANSWERED &&
           opencl_request_slot(queue, index)->info == GYRE_REQUEST_ANSWERED;
}

/**
 * Asks for a line that is about to be written and is still in a client's cache. The builtin asks only for reading
 * where the compiler does not know the processor; a processor without the instruction ignores it.
 */
static inline void opencl_want_line(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/** Whether another program can write the queue's memory at any time: then messages go by the stages, on every device. */
static inline bool opencl_is_foreign(const struct opencl_queue *queue)
{
    return (queue->slots.foreign & GYRE_FOREIGN_RING) != 0;
}

/** Whether the request is there. Acquire: pairs with the client's release of the sequence. */
static inline bool opencl_request_ready(const struct opencl_queue *queue, gyre_u64 index)
{
    return __atomic_load_n(&opencl_request_slot(queue, index)->sequence, __ATOMIC_ACQUIRE) == index + 1;
}

/** Bytes of an epoch's request slots. */
static inline size_t opencl_slots_size(const struct opencl_epoch *epoch)
{
    return (size_t)epoch->count * epoch->queue->slots.request_stride;
}

/** Bytes of its messages' headers. */
static inline size_t opencl_headers_size(const struct opencl_epoch *epoch)
{
    return (size_t)epoch->count * epoch->queue->slots.header_size;
}

/** Bytes of their checksums, of one direction; 0 where messages have none. */
static inline size_t opencl_seals_size(const struct opencl_epoch *epoch)
{
    return epoch->queue->slots.sealed ? (size_t)epoch->count * sizeof(gyre_u32) : 0;
}

/* ---- opencl_epoch.c ---- */

/**
 * The number of requests from queue->next on that are there or, for direct lanes, about to be; at most `most`. Passes
 * over answered requests, where copies would overwrite their replies.
 */
uint32_t opencl_ready(const gyre_resident *resident, struct opencl_queue *queue, uint32_t most);
/** The number of ready requests to send now. 0: better wait, because their sender may send on. */
uint32_t opencl_share(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t ready);
/** Sends `count` requests from queue->next on to the device, when `epochs` has a free place. LOST. */
gyre_status opencl_submit(gyre_resident *resident, struct opencl_queue *queue, uint32_t count,
                          gyre_u64 command);
/** Sends an epoch without messages and waits for it, so that the driver has done what it does at a first time. */
gyre_status opencl_warm_up(gyre_resident *resident);
/** Whether the oldest epoch is through. If it is gathered, hands out the replies that came. */
bool opencl_oldest_is_done(gyre_resident *resident);
/** Waits for the oldest epoch and completes its requests. LOST. */
gyre_status opencl_collect(gyre_resident *resident);
/** Releases the objects and stages of all epochs. */
void opencl_epochs_release(gyre_resident *resident);

#endif
