/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How threads of a process note what happens to messages, while somebody traces the process (gyre/observe.h has the spans). For the
 * core, and for backends whose blocks are threads of the core's process.
 *
 * Any thread; no lock, no call that waits. While nobody traces, a thread that asks reads two words that nobody writes. The ring lies in
 * the observation file, which this process alone writes: what stands there decides about no address and no length, only about whether a
 * span is left out.
 *
 * Stability: part of the backend ABI.
 */
#ifndef GYRE_TRACE_H
#define GYRE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/observe.h"

/** The ring of spans of a process. The core owns it; it outlives all kernels of the process, also those that are left behind. */
typedef struct gyre_trace {
    uint32_t on; /* atomic: 1: spans are written */
    uint32_t reserved;
    gyre_observe_span *spans; /* constant */
    uint64_t mask;            /* constant: places - 1, of a power of two */
    uint64_t secret;          /* constant: without it, keys tell nothing about addresses */
    uint64_t lines[3];
    uint64_t clock; /* atomic: the largest stamp that was given (gyre_trace_stamp) */
    /* atomic, on a line of their own: spans that were begun, and those that found their place taken */
    uint64_t next, lost;
} gyre_trace;

/** What the blocks of a kernel need to know. The core owns it; it outlives the resident. */
typedef struct gyre_trace_point {
    gyre_trace *trace; /* atomic; NULL: nothing is noted */
    uint32_t record;   /* constant once `trace` is set: that of the kernel in the observation file */
    uint32_t every;    /* constant: messages whose index is a multiple of this power of two are noted */
} gyre_trace_point;

/** The ring, while spans are written; else NULL. `point` may be NULL. */
static inline gyre_trace *gyre_trace_wanted(const gyre_trace_point *point)
{
    gyre_trace *trace = point ? __atomic_load_n(&point->trace, __ATOMIC_ACQUIRE) : (gyre_trace *)0;
    return trace && __atomic_load_n(&trace->on, __ATOMIC_ACQUIRE) ? trace : (gyre_trace *)0;
}

/** The key of an object of the process: equal for equal addresses alone. */
static inline uint64_t gyre_trace_key(const gyre_trace *trace, const void *address)
{
    uint64_t key = (uint64_t)(uintptr_t)address ^ trace->secret;
    key = (key ^ key >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ key >> 27) * UINT64_C(0x94d049bb133111eb);
    return key ^ key >> 31;
}

/**
 * The stamp of an event that happens now, in nanoseconds of the process's hybrid logical clock: `now_ns` if that is later than every stamp
 * that the process gave before, and than `after`; else 1 more than the latest of these. `after`: the stamp of an event elsewhere that
 * comes before this one; 0: there is none.
 *
 * An event that comes after another one of the process has the larger stamp, also where a clock stands still or goes back: whoever knows
 * of the earlier event, through whatever memory, finds its stamp in `clock`. A stamp differs from the time only while it has to.
 */
static inline uint64_t gyre_trace_stamp(gyre_trace *trace, uint64_t now_ns, uint64_t after)
{
    uint64_t last = __atomic_load_n(&trace->clock, __ATOMIC_RELAXED), stamp;
    do {
        const uint64_t least = last > after ? last : after;
        stamp = now_ns > least ? now_ns : least + 1;
    } while (
        !__atomic_compare_exchange_n(&trace->clock, &last, stamp, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return stamp;
}

/**
 * Writes a span; its marks are those of the ring. A thread that finds its place taken, by one that began it a whole lap before, leaves
 * its own span out: so no entry is ever of two writers.
 */
static inline void gyre_trace_write(gyre_trace *trace, const gyre_observe_span *span)
{
    const uint64_t number = __atomic_add_fetch(&trace->next, 1, __ATOMIC_RELAXED);
    gyre_observe_span *at = &trace->spans[(number - 1) & trace->mask];
    uint64_t before = __atomic_load_n(&at->mark, __ATOMIC_RELAXED);
    if (before & 1 || before >= 2 * number ||
        !__atomic_compare_exchange_n(&at->mark, &before, 2 * number - 1, 0, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED)) {
        __atomic_add_fetch(&trace->lost, 1, __ATOMIC_RELAXED);
        return;
    }
    __atomic_store_n(&at->again, 2 * number - 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(
        __ATOMIC_SEQ_CST); /* whoever copies something of the new span finds the marks odd, or different */
    __builtin_memcpy((unsigned char *)at + sizeof at->mark, (const unsigned char *)span + sizeof span->mark,
                     offsetof(gyre_observe_span, again) - sizeof span->mark);
    __atomic_store_n(&at->again, 2 * number, __ATOMIC_RELEASE);
    __atomic_store_n(&at->mark, 2 * number, __ATOMIC_RELEASE);
}

#if !defined(__cplusplus)
_Static_assert(sizeof(gyre_observe_span) == 128, "two lines");
_Static_assert(offsetof(gyre_trace, next) == 64, "a line of its own");
#endif

#endif
