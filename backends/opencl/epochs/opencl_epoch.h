/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An epoch (a batch of requests that one kernel handles) and its messages, for the files that carry it to the
 * device and back. Only the pump's thread calls these functions, unless a header says otherwise.
 *
 * The files of epochs, from the ground up: opencl_shape.c, opencl_commands.c, opencl_tell.c,
 * opencl_replies.c, opencl_copies.c, opencl_gather.c, opencl_carry.c; the pump
 * (opencl_pump.c) is above them. Each file calls only files before it.
 */
#ifndef GYRE_OPENCL_EPOCH_H
#define GYRE_OPENCL_EPOCH_H

#include "backends/opencl/epochs/opencl_resident.h"

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

/**
 * The length of a request. Relaxed: until the request is handled, a client may take it back at its deadline;
 * either length is right.
 */
static inline uint32_t opencl_request_length(const struct opencl_queue *queue, gyre_u64 index)
{
    return __atomic_load_n(&opencl_request_slot(queue, index)->length, __ATOMIC_RELAXED);
}

/**
 * Whether the request was answered by a worker process that has died since: the reply is complete and must
 * stay as it is.
 */
static inline bool opencl_is_answered(const struct opencl_queue *queue, gyre_u64 index)
{
    return opencl_request_length(queue, index) == GYRE_LENGTH_ANSWERED &&
           opencl_request_slot(queue, index)->info == GYRE_REQUEST_ANSWERED;
}

/**
 * Fetches a cache line that is about to be written and is still in a client's cache. The builtin asks for
 * reading only where the compiler does not know the processor; a processor without the instruction ignores
 * it.
 */
static inline void opencl_want_line(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/**
 * Whether another program can write the queue's memory at any time. If so, messages go by the stages
 * (copies), on every device.
 */
static inline bool opencl_is_foreign(const struct opencl_queue *queue)
{
    return (queue->slots.foreign & GYRE_FOREIGN_RING) != 0;
}

/** Whether the request is there. Acquire: pairs with the client's release of the sequence. */
static inline bool opencl_request_ready(const struct opencl_queue *queue, gyre_u64 index)
{
    return __atomic_load_n(&opencl_request_slot(queue, index)->sequence, __ATOMIC_ACQUIRE) == index + 1;
}

/** Bytes of the request slots of an epoch. */
static inline size_t opencl_slots_size(const struct opencl_epoch *epoch)
{
    return (size_t)epoch->count * epoch->queue->slots.request_stride;
}

/** Bytes of the headers of an epoch's messages. */
static inline size_t opencl_headers_size(const struct opencl_epoch *epoch)
{
    return (size_t)epoch->count * epoch->queue->slots.header_size;
}

/** Bytes of the checksums of an epoch's messages, of one direction; 0 where messages have no checksums. */
static inline size_t opencl_seals_size(const struct opencl_epoch *epoch)
{
    return epoch->queue->slots.sealed ? (size_t)epoch->count * sizeof(gyre_u32) : 0;
}

#endif
