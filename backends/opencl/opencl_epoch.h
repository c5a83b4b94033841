/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files that carry an epoch to the device and back have of each other. The pump's thread alone, unless it says
 * otherwise.
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

/** By a worker that died since: its reply is complete and stays as it is. */
static inline bool opencl_is_answered(const struct opencl_queue *queue, gyre_u64 index)
{
    return opencl_request_length(queue, index) == GYRE_LENGTH_ANSWERED &&
           opencl_request_slot(queue, index)->info == GYRE_REQUEST_ANSWERED;
}

/**
 * Asks for a line that is about to be written and is still a client's. The builtin asks for no more than to read
 * it where the compiler does not know the processor; one that has no such instruction takes it for none.
 */
static inline void opencl_want_line(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/** Another program can write the queue's memory at any time: its messages go by the stages, whatever the device. */
static inline bool opencl_is_foreign(const struct opencl_queue *queue)
{
    return (queue->slots.foreign & GYRE_FOREIGN_RING) != 0;
}

/** Acquire: pairs with the client's release of the sequence. */
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

/*
 * The files that carry an epoch, from the ground up: each calls those before it, and none after it. Between replies and
 * gather stands opencl_courier.c; on top opencl_epoch.c, for the pump (opencl_resident.h).
 */

/* ---- opencl_shape.c ---- */

/** All that the device is told of an epoch, but how it is spread over lanes. */
void opencl_tell_epoch(const gyre_resident *resident, const struct opencl_epoch *epoch, gyre_epoch *told);

/* ---- opencl_commands.c ---- */

/** GYRE_OK for CL_SUCCESS, else LOST with the call. */
gyre_status opencl_commanded(const gyre_resident *resident, cl_int code, const char *call);
/** Where the kernel finds the slots. LOST. */
gyre_status opencl_set_slots(gyre_resident *resident, cl_mem requests, cl_mem replies);
/** The epoch's kernel itself, after the event `former` if there is one; `ran` receives its event. LOST. */
gyre_status opencl_enqueue(gyre_resident *resident, struct opencl_epoch *epoch, cl_event former,
                           cl_event *ran);

/** So that an actor's state, or what handlers keep for their block, is the next one's when this has ended. */
cl_event opencl_former(const gyre_resident *resident);
/** Whether something has to wait for an epoch's kernel alone. */
bool opencl_tells_run(const gyre_resident *resident);
/** The epoch's share of the launch's blocks is the next one. */
void opencl_turn_blocks(gyre_resident *resident, struct opencl_epoch *epoch);
/** The device gets the table of handles anew when it has changed. LOST. */
gyre_status opencl_copy_handles(gyre_resident *resident);

/* ---- opencl_tell.c ---- */

/** The lines of blocks tell from now on what these do. */
void opencl_tell_present(const gyre_resident *resident);
/** The epoch was sent. */
void opencl_tell_begun(const gyre_resident *resident, const struct opencl_epoch *epoch);
/** It is through, and counted as in flight no more. */
void opencl_tell_ended(const gyre_resident *resident, const struct opencl_epoch *epoch);

/* ---- opencl_replies.c ---- */

/** What a message's times are, where they are kept: those of its epoch, as the device shares no clock with its queue. */
void opencl_stamp(const struct opencl_epoch *epoch, uint32_t i, uint64_t now_ns);
/**
 * A few of the replies that are there of a gathered epoch; false: none was. The pump, or the courier while the epoch is
 * its own.
 */
bool opencl_hand_out(const gyre_resident *resident, struct opencl_epoch *epoch);
/** Of an epoch in the stages of a direct device, which is through: whether message i is complete. */
bool opencl_is_staged(const struct opencl_epoch *epoch, uint32_t i);
/** Hands out all of these. */
void opencl_deliver(const gyre_resident *resident, struct opencl_epoch *epoch);

/* ---- opencl_copies.c ---- */

/** How many of `count` requests from queue->next on one epoch can copy. */
uint32_t opencl_copies_fit(const struct opencl_queue *queue, uint32_t count);
/** Write, run, read. LOST. */
gyre_status opencl_copies_submit(gyre_resident *resident, struct opencl_epoch *epoch);
/** The epoch is through: lets clients have the replies, and counts those that a handler failed. LOST. */
gyre_status opencl_copies_settle(gyre_resident *resident, struct opencl_epoch *epoch, uint32_t *failed);

/* ---- opencl_gather.c ---- */

/** Whether the next `count` requests of the queue go by the stages. */
bool opencl_gathers(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t count);
/** How many of them one epoch can gather. */
uint32_t opencl_gather_fit(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t count);
/** Gathers, runs. Of a direct device also sets epoch->repeated. LOST. */
gyre_status opencl_gather_submit(gyre_resident *resident, struct opencl_epoch *epoch);
/** Hands out the replies that are there; true: all were, or the epoch ended without some. */
bool opencl_gather_advance(gyre_resident *resident, struct opencl_epoch *epoch);
/** The epoch is through. LOST when a reply is not there. */
gyre_status opencl_gather_settle(gyre_resident *resident, struct opencl_epoch *epoch, uint32_t *failed);

#endif
