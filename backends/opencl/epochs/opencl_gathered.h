/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets in the two stages of a gathered epoch, for the files that pack requests, describe the epoch to the
 * device, and hand out replies. The stage to the device holds slots, headers, checksums, then the bytes of
 * requests that do not lie in their slots. The stage back holds slots, checksums, then a place for each
 * reply. Private to this folder.
 */
#ifndef GYRE_OPENCL_GATHERED_H
#define GYRE_OPENCL_GATHERED_H

#include "backends/opencl/epochs/opencl_epoch.h"

static inline size_t gathered_round_up(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

static inline size_t gathered_headers_at(const struct opencl_epoch *epoch)
{
    return opencl_slots_size(epoch);
}

static inline size_t gathered_seals_at(const struct opencl_epoch *epoch)
{
    return gathered_headers_at(epoch) + opencl_headers_size(epoch);
}

/* Offset of the bytes of requests that do not lie in their slots. */
static inline size_t gathered_bodies_at(const struct opencl_epoch *epoch)
{
    return gathered_round_up(gathered_seals_at(epoch) + opencl_seals_size(epoch));
}

static inline size_t gathered_reply_seals_at(const struct opencl_epoch *epoch)
{
    return (size_t)epoch->count * epoch->queue->slots.reply_stride;
}

static inline size_t gathered_answers_at(const struct opencl_epoch *epoch)
{
    return gathered_round_up(gathered_reply_seals_at(epoch) + opencl_seals_size(epoch));
}

/* The distance from one reply's place to the next; 0: replies lie in their slots. */
static inline size_t gathered_answer_stride(const gyre_resident *resident, const struct opencl_queue *queue)
{
    return queue->bridge.reply_bytes ? GYRE_BRIDGE_UNITS(resident->kernel->record.reply->size) : 0;
}

static inline size_t gathered_out_size(const gyre_resident *resident, const struct opencl_epoch *epoch)
{
    return gathered_answers_at(epoch) + epoch->count * gathered_answer_stride(resident, epoch->queue);
}

#endif
