/* SPDX-License-Identifier: Apache-2.0 */
/* logistic map, radix sort, trapezoid: kernels/streams.gyre.c and asks.gyre.c. */
#include <math.h>
#include <stdlib.h>

#include "runs.h"

static const char streams[] = "streams.gyre.c", asks[] = "asks.gyre.c";
static const double first_rate = 3.46, increment = 0.0025;

enum { SERIES = 10 };

/* What the series come to, by a loop. */
static double expect_terms(uint64_t count)
{
    double sum = 0;
    for (int i = 0; i < SERIES; i++) {
        double term = i * increment;
        const double rate = first_rate + i * increment;
        for (uint64_t k = 0; k < count; k++)
            term = rate * term * (1 - term);
        sum += term;
    }
    return sum;
}

void run_logistic(struct run *run)
{
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, asks, "logistic", "logistic", -1);
    for (int i = 0; i < SERIES; i++) {
        const total term = {.sum = (uint64_t)i, .value = i * increment};
        const total rate = {.value = first_rate + i * increment};
        wiring->state = &term;
        wiring_stage(wiring, asks, "series", "series", i);
        wiring->state = &rate;
        wiring_stage(wiring, asks, "rate", "rate", i);
        wiring_link_between(wiring, "logistic", -1, "next", "series", i)->topic = "series";
        wiring_link_between(wiring, "series", i, "rate", "rate", i);
        wiring_link_between(wiring, "series", i, "last", "add", -1);
    }
    wiring_stage(wiring, asks, "add_terms", "add", -1);
    wiring_answers(wiring);
    wiring_open(wiring, 4 * SERIES);
    const total told = run_measure(run, (task){.left = run->size}, NULL);
    run_found_value(run, told.value, expect_terms(run->size), 0);
    run->right = run->right && told.count == SERIES;
    wiring_end(wiring);
}

static int compare(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

enum { BITS_MAX = 60 };

static uint64_t mask_of(uint32_t bits)
{
    return (UINT64_C(1) << bits) - 1;
}

/* Ticks by which each kernel sends what it kept, SAVINA_BATCH a tick: the kernel of a bit keeps the numbers that have it. */
static uint64_t count_ticks(uint64_t count, uint32_t bits)
{
    uint64_t kept[BITS_MAX] = {0}, random = 2048, ticks = 0;
    for (uint64_t i = 0; i < count; i++) {
        random = savina_random(random);
        for (uint32_t bit = 0; bit < bits; bit++)
            kept[bit] += random >> 4 >> bit & 1;
    }
    for (uint32_t bit = 0; bit < bits; bit++)
        ticks += (kept[bit] + SAVINA_BATCH - 1) / SAVINA_BATCH;
    return ticks;
}

/* The sum of the numbers, each times its place when they are sorted: another order has another sum. */
static uint64_t expect_sorted(uint64_t count, uint32_t bits)
{
    uint64_t *numbers = calloc(count, sizeof *numbers), random = 2048, sum = 0;
    if (numbers == NULL)
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        random = savina_random(random);
        numbers[i] = random >> 4 & mask_of(bits);
    }
    qsort(numbers, count, sizeof *numbers, compare);
    for (uint64_t i = 0; i < count; i++)
        sum += numbers[i] * (i + 1);
    free(numbers);
    return sum;
}

void run_radix(struct run *run)
{
    const uint32_t bits = run_kernels(run, BITS_MAX);
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, streams, "radix_source", "source", -1);
    for (int i = 0; i < (int)bits; i++) {
        wiring_buffer(wiring, "kept", run->size * sizeof(uint64_t));
        wiring_stage(wiring, streams, "radix", "bit", i);
        wiring_link_between(wiring, "bit", i, "batch", i + 1 < (int)bits ? "bit" : "sorted",
                            i + 1 < (int)bits ? i + 1 : -1);
    }
    wiring_stage(wiring, streams, "sorted", "sorted", -1);
    wiring_answers(wiring);
    wiring_link(wiring, "source.batch", "bit0");
    wiring_open(wiring, 0);
    const uint64_t ticks = count_ticks(run->size, bits);
    const total told =
        run_feed(run, (task){.left = run->size, .size = (uint32_t)ticks, .who = bits}, run->size + ticks + 1);
    run_found(run, told.count, run->size);
    run->right = run->right && told.sum == expect_sorted(run->size, bits);
    wiring_end(wiring);
}

static double height(double x)
{
    return 1 / (x + 1) * sqrt(1 + exp(sqrt(2 * x))) * sin(x * x * x - 1);
}

static double expect_area(uint64_t pieces)
{
    const double width = 4.0 / (double)pieces;
    double area = 0;
    for (uint64_t i = 0; i < pieces; i++)
        area += 0.5 * width * (height(1 + (double)i * width) + height(1 + (double)(i + 1) * width));
    return area;
}

void run_trapezoid(struct run *run)
{
    enum { PARTS = 100 };
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, streams, "trapezoid", "trapezoid", -1);
    wiring_stage(wiring, streams, "part", "part", -1);
    wiring_stage(wiring, streams, "join", "join", -1);
    wiring_answers(wiring);
    wiring_link(wiring, "trapezoid.parts", "part");
    wiring_link(wiring, "part.next", "join");
    wiring_open(wiring, 0);
    const total told = run_measure(run, (task){.left = run->size, .size = PARTS}, NULL);
    run_found_value(run, told.value, expect_area(run->size), 1e-9);
    run->right = run->right && told.sum == PARTS;
    wiring_end(wiring);
}
