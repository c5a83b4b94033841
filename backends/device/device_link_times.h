/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long messages of links wait for their handlers (gyre_link_times), where threads of this process send and take them. Each so manieth
 * message of a ring is timed; others cost a test, and those of rings without times a test of the ring's address. Takes no lock.
 */
#ifndef GYRE_DEVICE_LINK_TIMES_H
#define GYRE_DEVICE_LINK_TIMES_H

#include "gyre/link_layout.h"
#include "gyre/observe.h"
#include "gyre/waiting.h"

static inline gyre_link_sent *device_link_sent_at(gyre_link_times *times, gyre_u64 index)
{
    const gyre_u64 place = index / times->every & (times->places - 1);
    return (gyre_link_sent *)(void *)(times + 1) + place;
}

/** Notes the time. Not inlined: few messages are timed. */
__attribute__((noinline, unused)) static void device_link_note_sent(gyre_link_times *times, gyre_u64 index)
{
    gyre_link_sent *sent = device_link_sent_at(times, index);
    __atomic_store_n(&sent->sent_ns, gyre_clock_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&sent->number, index + 1, __ATOMIC_RELEASE); /* pairs with device_link_count_waited */
}

/** Before messages [first, end) are published, by the one thread that sends into the ring. */
static inline void device_link_times_sent(const gyre_link_ring *ring, gyre_u64 first, gyre_u64 end)
{
    gyre_link_times *times = (gyre_link_times *)(uintptr_t)ring->sent_times;
    if (__builtin_expect(times == NULL, 1))
        return;
    const gyre_u64 every = times->every;
    for (gyre_u64 index = (first + every - 1) & ~(every - 1); index < end; index += every)
        device_link_note_sent(times, index);
}

/** Counts how long the message waited, unless its sender noted nothing: threads of the core send into such rings, too. */
__attribute__((noinline, unused)) static void device_link_count_waited(gyre_link_times *times, gyre_u64 index)
{
    const gyre_link_sent *sent = device_link_sent_at(times, index);
    if (__atomic_load_n(&sent->number, __ATOMIC_ACQUIRE) != index + 1)
        return;
    const gyre_u64 now = gyre_clock_ns(), then = __atomic_load_n(&sent->sent_ns, __ATOMIC_RELAXED);
    const gyre_u64 ns = now > then ? now - then : 0;
    __atomic_fetch_add(&times->sum_ns, ns, __ATOMIC_RELAXED); /* blocks of the target share the counts */
    __atomic_fetch_add(&times->buckets[gyre_observe_bucket(ns)], 1, __ATOMIC_RELAXED);
}

/** Before the handler is called with that message, which is there. `times`: those of its ring, which the caller looks up once a run. */
static inline void device_link_times_begun(gyre_link_times *times, gyre_u64 index)
{
    if (__builtin_expect(times == NULL, 1) || index & (times->every - 1))
        return;
    device_link_count_waited(times, index);
}

#endif
