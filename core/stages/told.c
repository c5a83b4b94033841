/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times that a client tells its server (told.h). No lock: each word has one writer. The words need no order among each other,
 * because the reader takes each for itself and bounds the sum by the buckets.
 */
#include "core/stages/told.h"

void gyre_told_store(struct gyre_told_times *told, const gyre_observe_histogram *times, uint32_t bucket)
{
    __atomic_store_n(&told->buckets[times->time][bucket], times->buckets[bucket], __ATOMIC_RELAXED);
    __atomic_store_n(&told->sums_ns[times->time], times->sum_ns, __ATOMIC_RELAXED);
}

static uint64_t add_to_limit(uint64_t sum, uint64_t count, uint64_t ns)
{
    uint64_t product;
    if (__builtin_mul_overflow(count, ns, &product) || __builtin_add_overflow(sum, product, &sum))
        return UINT64_MAX;
    return sum;
}

/* Takes one bucket: what the client says, unless that is less than before or more than any client can have sent. */
static uint64_t take_bucket(uint64_t before, const uint64_t *said)
{
    const uint64_t now = __atomic_load_n(said, __ATOMIC_RELAXED);
    if (now <= before)
        return before;
    return now < GYRE_TOLD_MOST ? now : GYRE_TOLD_MOST;
}

static void take_time(const struct gyre_told_times *told, uint32_t time, gyre_observe_histogram *times)
{
    uint64_t least = 0, most = 0;
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++) {
        const uint64_t count = times->buckets[i] = take_bucket(times->buckets[i], &told->buckets[time][i]);
        least = add_to_limit(least, count, gyre_observe_edge(i));
        /* the last bucket has no upper edge */
        most =
            add_to_limit(most, count, i + 1 < GYRE_OBSERVE_BUCKETS ? gyre_observe_edge(i + 1) : UINT64_MAX);
    }
    uint64_t sum = __atomic_load_n(&told->sums_ns[time], __ATOMIC_RELAXED);
    sum = sum < least ? least : sum > most ? most : sum;
    if (sum > times->sum_ns)
        times->sum_ns = sum;
}

void gyre_told_take(const struct gyre_told_times *told, gyre_observe_histogram times[GYRE_OBSERVE_TIMES])
{
    for (uint32_t time = 0; time < GYRE_OBSERVE_TIMES; time++)
        take_time(told, time, &times[time]);
}
