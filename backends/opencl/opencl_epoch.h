/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What opencl_epoch.c (epochs of any device, and those of a direct one) and opencl_copies.c (those of copied
 * messages) have of each other. The pump's thread alone.
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

/** By a worker that died since: its reply is complete and stays as it is. */
static inline bool opencl_is_answered(const struct opencl_queue *queue, gyre_u64 index)
{
    const gyre_slot *request = opencl_request_slot(queue, index);
    return request->length == GYRE_LENGTH_ANSWERED && request->info == GYRE_REQUEST_ANSWERED;
}

/** Bytes of an epoch's request slots. */
static inline size_t opencl_slots_size(const struct opencl_epoch *epoch)
{
    return (size_t)epoch->count * epoch->queue->slots.request_stride;
}

/* ---- opencl_epoch.c ---- */

/** GYRE_OK for CL_SUCCESS, else LOST with the call. */
gyre_status opencl_commanded(const gyre_resident *resident, cl_int code, const char *call);
/** Where the kernel finds the slots. LOST. */
gyre_status opencl_set_slots(gyre_resident *resident, cl_mem requests, cl_mem replies);
/** The epoch's kernel itself, after the event `former` if there is one; `ran` receives its event. LOST. */
gyre_status opencl_enqueue(gyre_resident *resident, const struct opencl_epoch *epoch, cl_event former,
                           cl_event *ran);

/* ---- opencl_copies.c ---- */

/** How many of `count` requests from queue->next on one epoch can copy. */
uint32_t opencl_copies_fit(const struct opencl_queue *queue, uint32_t count);
/** Write, run, read. LOST. */
gyre_status opencl_copies_submit(gyre_resident *resident, struct opencl_epoch *epoch);
/** The epoch is through: lets clients have the replies, and counts those that a handler failed. LOST. */
gyre_status opencl_copies_settle(gyre_resident *resident, struct opencl_epoch *epoch, uint32_t *failed);

#endif
