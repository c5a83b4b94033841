/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When messages are handled, in kernels that are compiled with GYRE_TIMED: of each message whose index is a multiple of it, the
 * device stores a stamp across the bus, which the message's client reads, and counts in its own memory how long the handler took
 * (gyre_control_times). The backend's host side copies these counts now and then (backends/cuda/residents/cuda_times.c). Other messages
 * cost a test, and nothing crosses the bus for them. Other kernels hold no trace of any of it. Included by cuda_resident.h.
 */
#ifndef GYRE_DIALECT_CUDA_TIMES_H
#define GYRE_DIALECT_CUDA_TIMES_H

#if GYRE_TIMED
GYRE_HELPER gyre_control_times *gyre_times_of_(gyre_device_log *log)
{
    const gyre_u32 offset = log->reserved[GYRE_LOG_TIMES_WORD];
    return offset ? (gyre_control_times *)((gyre_u8 *)log + offset) : 0;
}

/* The bucket that gyre_observe_bucket says (observe.h). */
GYRE_HELPER gyre_u32 gyre_time_bucket_(gyre_u64 ns)
{
    if (ns < 64)
        return (gyre_u32)(ns >> 3);
    const gyre_u32 octave = 63 - (gyre_u32)__clzll((long long)ns);
    if (octave > 36)
        return GYRE_TIMES_BUCKETS - 1;
    return 8 + 8 * (octave - 6) + ((gyre_u32)(ns >> (octave - 3)) & 7);
}

/* Nobody waits for these additions: they return nothing, and the memory's own units make them. */
GYRE_HELPER void gyre_times_count_(gyre_control_times *times, gyre_u64 ns)
{
    atomicAdd(&times->sum_ns, ns);
    atomicAdd(&times->buckets[gyre_time_bucket_(ns)], (gyre_u64)1);
}

GYRE_HELPER void gyre_times_end_(const gyre_context *gyre, gyre_u64 started_ns)
{
    if (gyre->times)
        gyre_times_count_(gyre->times, gyre_time_ns(gyre) - started_ns);
}

GYRE_HELPER void gyre_stamp_write_(const gyre_context *gyre, gyre_u64 index, gyre_u64 started_ns)
{
    const gyre_u64 now = gyre_time_ns(gyre);
    if (gyre->times)
        gyre_times_count_(gyre->times, now - started_ns);
    if (!gyre->stamps)
        return;
    gyre_stamp *stamp = gyre->stamps + (index & gyre->stamp_mask);
    gyre_chunk first = {index + 1, started_ns}, second = {now, index + 1};
    gyre_chunk_store_(&stamp->sequence, first);
    gyre_chunk_store_(&stamp->finished_ns, second);
}
/*
 * GYRE_STAMP_QUEUE_ is called before messages of a queue are handled. The lane that speaks for a message calls the
 * others, before and after the message. `started` is 0 for a message that is not timed.
 */
#define GYRE_TIMES_BEGIN_(gyre, arguments)                                                                   \
    ((gyre)->stamps = 0, (gyre)->times = gyre_times_of_((arguments).log))
#define GYRE_STAMP_QUEUE_(gyre, queue) ((gyre)->stamps = (queue)->stamps, (gyre)->stamp_mask = (queue)->mask)
#define GYRE_STAMP_BEGIN_(gyre, index, started)                                                              \
    const gyre_u64 started = ((index) & (gyre_u64)(GYRE_TIMED - 1)) == 0 ? gyre_time_ns(gyre) : 0
#define GYRE_STAMP_END_(gyre, index, started)                                                                \
    ((started) ? gyre_stamp_write_((gyre), (index), (started)) : (void)0)
/* In place of GYRE_STAMP_END_ for a message that has no stamp. */
#define GYRE_TIMES_END_(gyre, started) ((started) ? gyre_times_end_((gyre), (started)) : (void)0)
#else
#define GYRE_TIMES_BEGIN_(gyre, arguments)      ((void)0)
#define GYRE_STAMP_QUEUE_(gyre, queue)          ((void)0)
#define GYRE_STAMP_BEGIN_(gyre, index, started) ((void)0)
#define GYRE_STAMP_END_(gyre, index, started)   ((void)0)
#define GYRE_TIMES_END_(gyre, started)          ((void)0)
#endif

#endif
