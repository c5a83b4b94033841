/* SPDX-License-Identifier: Apache-2.0 */
/* Computes quantiles and medians, pins threads to processors, and reads clocks. Its only state is the processors that the
 * process started with. */
#include "cli/bench/measure.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "gyre/waiting.h"

/* ---- statistics ---- */

static uint64_t bucket_top(unsigned bucket)
{
    if (bucket < 1u << (BENCH_BUCKET_BITS + 1))
        return bucket;
    unsigned shift = (bucket >> BENCH_BUCKET_BITS) - 1;
    uint64_t first = (uint64_t)(bucket - (shift << BENCH_BUCKET_BITS)) << shift;
    return first + (UINT64_C(1) << shift) - 1;
}

uint64_t bench_histogram_quantile(const bench_histogram *histogram, double share)
{
    uint64_t seen = 0, wanted = (uint64_t)((double)histogram->count * share);
    for (unsigned i = 0; i < BENCH_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen > wanted || (seen == histogram->count && seen))
            return bucket_top(i) < histogram->max ? bucket_top(i) : histogram->max;
    }
    return 0;
}

void bench_sample_latencies(bench_sample *sample, const bench_histogram *histogram)
{
    sample->p50 = (double)bench_histogram_quantile(histogram, 0.5);
    sample->p99 = (double)bench_histogram_quantile(histogram, 0.99);
    sample->p999 = (double)bench_histogram_quantile(histogram, 0.999);
    sample->max = (double)histogram->max;
}

static int compare_values(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

double bench_median(const double *values, size_t count)
{
    double sorted[BENCH_ROUNDS_MAX];
    if (count == 0)
        return 0;
    if (count > BENCH_ROUNDS_MAX)
        count = BENCH_ROUNDS_MAX;
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_values);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static double median_of(const bench_sample *samples, size_t count, size_t member)
{
    double values[BENCH_ROUNDS_MAX];
    for (size_t i = 0; i < count && i < BENCH_ROUNDS_MAX; i++)
        memcpy(&values[i], (const char *)&samples[i] + member, sizeof values[i]);
    return bench_median(values, count);
}

bench_sample bench_sample_median(const bench_sample *samples, size_t count)
{
    bench_sample median = {.per_second = median_of(samples, count, offsetof(bench_sample, per_second)),
                           .p50 = median_of(samples, count, offsetof(bench_sample, p50)),
                           .p99 = median_of(samples, count, offsetof(bench_sample, p99)),
                           .p999 = median_of(samples, count, offsetof(bench_sample, p999)),
                           .cpu = median_of(samples, count, offsetof(bench_sample, cpu))};
    for (size_t i = 0; i < count; i++) {
        median.messages += samples[i].messages;
        median.errors += samples[i].errors;
        if (samples[i].max > median.max)
            median.max = samples[i].max;
    }
    return median;
}

/* ---- cores ---- */

static cpu_set_t allowed; /* the processors of the process before any thread was pinned */
static pthread_once_t allowed_once = PTHREAD_ONCE_INIT;

static void read_allowed(void)
{
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        CPU_ZERO(&allowed);
}

/* The number of the n-th allowed processor, or -1. */
static int core_at(unsigned n)
{
    pthread_once(&allowed_once, read_allowed);
    for (size_t core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &allowed) && n-- == 0)
            return (int)core;
    return -1;
}

int bench_core_client(void)
{
    return core_at(1) < 0 ? -1 : core_at(0);
}

int bench_core_server(void)
{
    return core_at(1);
}

int bench_core_producer(unsigned number)
{
    if (number == 0 || core_at(1) < 0)
        return bench_core_client();
    unsigned spare = (unsigned)CPU_COUNT(&allowed) - 2;
    return spare ? core_at(2 + (number - 1) % spare) : bench_core_client();
}

void bench_pin(int core)
{
    cpu_set_t set;
    pthread_once(&allowed_once, read_allowed);
    CPU_ZERO(&set);
    if (core >= 0)
        CPU_SET((size_t)core, &set);
    else
        set = allowed;
    if (CPU_COUNT(&set))
        pthread_setaffinity_np(pthread_self(), sizeof set, &set); /* refused: it runs where it may */
}

/* ---- clocks ---- */

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_usec * 1000;
}

static pid_t cpu_other;

void bench_cpu_with(pid_t other)
{
    cpu_other = other;
}

static uint64_t cpu_of_other(void)
{
    clockid_t clock;
    struct timespec used;
    if (!cpu_other || clock_getcpuclockid(cpu_other, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

uint64_t bench_cpu_ns(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime) + cpu_of_other();
}

double bench_clock_cost_ns(void)
{
    enum { READINGS = 10000, ROUNDS = 9 };
    double costs[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = gyre_clock_ns(), now = start;
        for (int i = 0; i < READINGS; i++)
            now = gyre_clock_ns();
        costs[round] = (double)(now - start) / (double)READINGS;
    }
    return bench_median(costs, ROUNDS);
}
