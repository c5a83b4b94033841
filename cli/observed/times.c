/* SPDX-License-Identifier: Apache-2.0 */
/* Computes percentiles of histograms (times.h). A count in a file may be anything, so sums stop at the largest number. */
#include "cli/observed/times.h"

const char *const times_words[GYRE_OBSERVE_TIMES] = {"waited", "handled", "returned", "round_trip"};

static uint64_t add(uint64_t one, uint64_t other)
{
    return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

uint64_t times_count(const gyre_observe_histogram *histogram)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++)
        count = add(count, histogram->buckets[i]);
    return count;
}

double times_percentile(const gyre_observe_histogram *histogram, double share)
{
    const double wanted = share * (double)times_count(histogram);
    uint64_t seen = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++) {
        if (!histogram->buckets[i])
            continue;
        last = i + 1;
        seen = add(seen, histogram->buckets[i]);
        if ((double)seen >= wanted)
            break;
    }
    if (!last)
        return 0;
    return (double)(gyre_observe_edge(last - 1) + gyre_observe_edge(last)) / 2e9;
}

double times_mean(const gyre_observe_histogram *histogram)
{
    const uint64_t count = times_count(histogram);
    return count ? (double)histogram->sum_ns / (double)count / 1e9 : 0;
}

bool times_subtract(gyre_observe_histogram *histogram, const gyre_observe_histogram *earlier)
{
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++)
        if (earlier->buckets[i] > histogram->buckets[i])
            return false;
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++)
        histogram->buckets[i] -= earlier->buckets[i];
    histogram->sum_ns -= earlier->sum_ns < histogram->sum_ns ? earlier->sum_ns : histogram->sum_ns;
    return true;
}

const char *times_text(double seconds, char text[16])
{
    static const struct {
        double most, unit;
        const char *word;
    } units[] = {{1e-6, 1e-9, "ns"}, {1e-3, 1e-6, "us"}, {1, 1e-3, "ms"}, {1e300, 1, "s"}};
    size_t at = 0;
    while (seconds >= units[at].most)
        at++;
    const double value = seconds / units[at].unit;
    snprintf(text, 16, at > 0 && value < 10 ? "%.1f %s" : "%.0f %s", value < 1e6 ? value : 1e6,
             units[at].word);
    return text;
}
