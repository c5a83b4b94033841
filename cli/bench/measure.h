/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools for measuring: a histogram that allocates nothing, the processors to which threads are pinned, and CPU time.
 *
 * One latency is the time from one clock reading to the next, so it contains the cost of one reading; floors
 * and cases are measured alike. Threads: one thread uses a histogram; any thread may call the other functions.
 */
#ifndef GYRE_CLI_BENCH_MEASURE_H
#define GYRE_CLI_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Values below 2^8 ns have a bucket each; above, 128 buckets for each power of two: off by 0.8 % at most. */
enum { BENCH_BUCKET_BITS = 7, BENCH_BUCKETS = (64 - BENCH_BUCKET_BITS + 1) << BENCH_BUCKET_BITS };

typedef struct bench_histogram {
    uint64_t count, max;
    uint32_t buckets[BENCH_BUCKETS];
} bench_histogram;

static inline unsigned bench_bucket(uint64_t value)
{
    if (value < UINT64_C(1) << (BENCH_BUCKET_BITS + 1))
        return (unsigned)value;
    unsigned shift = 63u - BENCH_BUCKET_BITS - (unsigned)__builtin_clzll(value);
    return (shift << BENCH_BUCKET_BITS) + (unsigned)(value >> shift);
}

static inline void bench_histogram_add(bench_histogram *histogram, uint64_t value)
{
    histogram->buckets[bench_bucket(value)]++;
    histogram->count++;
    if (value > histogram->max)
        histogram->max = value;
}

/** The quantile: a `share` (0 to 1) of the values is at most this value. 0 for a histogram without values. */
uint64_t bench_histogram_quantile(const bench_histogram *histogram, double share);

/** The figures of one round of a floor or a case; members that were not measured are 0. */
typedef struct bench_sample {
    uint64_t messages, errors;
    double per_second;
    double p50, p99, p999, max; /* ns */
    double cpu;                 /* cores kept busy by the process */
} bench_sample;

void bench_sample_latencies(bench_sample *sample, const bench_histogram *histogram);

enum { BENCH_ROUNDS_MAX = 64 };
/** When a round of a case was run, by gyre_clock_ns, and its messages. */
typedef struct bench_span {
    uint64_t begin_ns, end_ns, messages;
} bench_span;
double bench_median(const double *values, size_t count);
/** The median of each member; messages and errors are sums, max is the largest. */
bench_sample bench_sample_median(const bench_sample *samples, size_t count);

/**
 * The processors to which threads are pinned, among the processors of this process: the client to the first, its server to the
 * second, further producers to the others, or with the client. -1: the process has only one processor, so no thread is pinned.
 */
int bench_core_client(void);
int bench_core_server(void);
int bench_core_producer(unsigned number);
/** Pins the calling thread; -1 lets it run wherever the process could when it started. */
void bench_pin(int core);

/** CPU time of the whole process, and of the process that bench_cpu_with named, until that process ended. */
uint64_t bench_cpu_ns(void);
/** Names another process whose CPU time bench_cpu_ns adds; 0: no other process. */
void bench_cpu_with(pid_t other);
/** Median cost of one clock reading. */
double bench_clock_cost_ns(void);

#endif
