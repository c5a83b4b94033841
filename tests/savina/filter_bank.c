/* SPDX-License-Identifier: Apache-2.0 */
/* filter bank: kernels/filter_bank.gyre.c. */
#include <stdio.h>
#include <stdlib.h>

#include "runs.h"

static const char file[] = "filter_bank.gyre.c";

/* Values that one channel may be ahead of another one: more than all links of a channel hold. */
enum { AHEAD = 16384 };

/* The filters of a channel, the first and the second one. */
static double tap(int filter, uint32_t channel, uint32_t i, uint32_t columns)
{
    if (filter == 0)
        return (double)i * columns + (double)channel * FILTER_CHANNELS + channel + i + channel + 1;
    return (double)i * channel + (double)channel * channel + channel + i;
}

static void *must_have(void *memory)
{
    if (memory)
        return memory;
    fprintf(stderr, "savina: there is no memory left\n");
    exit(1);
}

static double *make_taps(int filter, uint32_t channel, uint32_t columns)
{
    double *taps = must_have(calloc(columns, sizeof *taps));
    for (uint32_t i = 0; i < columns; i++)
        taps[i] = tap(filter, channel, i, columns);
    return taps;
}

/* ---- what has to come out, by loops ---- */

static double apply(const double *kept, const double *taps, uint32_t columns)
{
    double even = 0, odd = 0;
    for (uint32_t i = 0; i + 1 < columns; i += 2) {
        even += kept[i] * taps[columns - 1 - i];
        odd += kept[i + 1] * taps[columns - 2 - i];
    }
    return even + odd;
}

/*
 * Adds to out[] what a channel makes of the values 1, 2, 3 ... FILTER_VALUES, 1 ..., and to *filtered what its two filters make.
 * Returns how many values come out.
 */
static uint64_t add_channel(uint32_t channel, uint64_t count, uint32_t columns, double *out, double *filtered)
{
    double *first_taps = make_taps(0, channel, columns), *second_taps = make_taps(1, channel, columns);
    double *first = must_have(calloc(columns, sizeof *first)),
           *second = must_have(calloc(columns, sizeof *second));
    double *held = must_have(calloc(count, sizeof *held));
    const uint64_t delay = columns - 1;
    uint64_t sampled = 0, made = 0;
    for (uint64_t i = 0; i < count; i++) {
        first[i % columns] = i < delay ? 0 : (double)((i - delay) % FILTER_VALUES + 1);
        if (i < delay)
            continue;
        const double value = apply(first, first_taps, columns);
        *filtered += value;
        held[sampled] = sampled % columns ? 0 : value;
        second[sampled % columns] = sampled < delay ? 0 : held[sampled - delay];
        if (sampled++ < delay)
            continue;
        const double last = apply(second, second_taps, columns);
        *filtered += last;
        out[made++] += last;
    }
    free(first_taps);
    free(second_taps);
    free(first);
    free(second);
    free(held);
    return made;
}

static total expect(uint64_t count, uint32_t columns, uint32_t channels)
{
    double *out = must_have(calloc(count, sizeof *out));
    total expected = {0};
    for (uint32_t i = 0; i < channels; i++)
        expected.count = add_channel(i, count, columns, out, &expected.beside);
    for (uint64_t i = 0; i < expected.count; i++)
        expected.value += out[i] * (double)(i + 1);
    free(out);
    return expected;
}

/* ---- the pipeline ---- */

static void add_filter(struct wiring *wiring, int filter, const char *name, uint32_t channel,
                       uint32_t columns)
{
    double *taps = make_taps(filter, channel, columns);
    wiring_buffer(wiring, "kept", columns * sizeof(double));
    must(gyre_buffer_upload(wiring_buffer(wiring, "taps", columns * sizeof(double)), 0, taps,
                            columns * sizeof(double)));
    wiring_stage(wiring, file, "fir", name, (int)channel);
    free(taps);
}

static void add_delay(struct wiring *wiring, const char *name, uint32_t channel, uint32_t columns)
{
    wiring_buffer(wiring, "kept", (columns - 1) * sizeof(double));
    wiring_stage(wiring, file, "delay", name, (int)channel);
}

static void wire_channel(struct wiring *wiring, uint32_t channel, uint32_t columns)
{
    static const char *const names[] = {"delay", "filter", "sample", "hold", "last"};
    char from[WIRING_NAME_MAX], port[4];
    snprintf(from, sizeof from, "source");
    snprintf(port, sizeof port, "c%u", (unsigned)channel);
    add_delay(wiring, names[0], channel, columns);
    add_filter(wiring, 0, names[1], channel, columns);
    wiring_stage(wiring, file, "sample", names[2], (int)channel);
    add_delay(wiring, names[3], channel, columns);
    add_filter(wiring, 1, names[4], channel, columns);
    wiring_link_between(wiring, from, -1, port, names[0], (int)channel);
    for (int i = 0; i < 4; i++)
        wiring_link_between(wiring, names[i], (int)channel, "next", names[i + 1], (int)channel);
    wiring_link_between(wiring, names[4], (int)channel, "next", "integrate", -1);
}

void run_filter_bank(struct run *run)
{
    enum { KERNELS_A_CHANNEL = 5 };
    const uint32_t columns = (uint32_t)(run->size * 8 / 17) & ~3u; /* 16,384 of 34,816, as Savina has them */
    const uint32_t most = run_kernels(run, FILTER_CHANNELS * KERNELS_A_CHANNEL) / KERNELS_A_CHANNEL;
    const uint32_t channels = most ? most : 1;
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, file, "filter_source", "source", -1);
    for (uint32_t i = 0; i < channels; i++)
        wire_channel(wiring, i, columns);
    for (uint32_t i = channels; i < FILTER_CHANNELS; i++) {
        char port[4];
        snprintf(port, sizeof port, "c%u", (unsigned)i);
        wiring_link_between(wiring, "source", -1, port, "nowhere", -1);
    }
    wiring_buffer(wiring, "kept", (uint64_t)FILTER_CHANNELS * AHEAD * sizeof(double));
    wiring_stage(wiring, file, "integrate", "integrate", -1);
    wiring_stage(wiring, file, "filter_sink", "sink", -1);
    wiring_answers(wiring);
    wiring_link(wiring, "integrate.next", "sink");
    wiring_open(wiring, 0);
    const task value = {.left = run->size, .size = columns, .from = channels};
    const total told = run_feed(run, value, run->size + 1), expected = expect(run->size, columns, channels);
    run_found(run, told.count, expected.count);
    run_agrees(run, told.value, expected.value, 1e-9);
    run_agrees(run, told.beside, expected.beside, 1e-9);
    run->right = run->right && expected.value > 0;
    wiring_end(wiring);
}
