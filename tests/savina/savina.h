/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of Savina's benchmarks, for their kernels and for the program that runs them (main.c says which there are).
 */
#ifndef SAVINA_H
#define SAVINA_H

#include <gyre/message.h>

enum { SAVINA_GO, SAVINA_TELL, SAVINA_END, SAVINA_PUT, SAVINA_GET, SAVINA_NO };

enum {
    BIG_ACTORS_MAX = 128,
    RING_ACTORS = 100,
    CREATURES_MAX = 128,
    PRIMES_A_FILTER = 1000,
    PARTS_MAX = 128
};

/* Of the buffer, the barber, the smokers, the filter bank and quicksort. */
enum {
    BUFFER_ACTORS_MAX = 40,
    BUFFER_ITEMS = 50,
    CUSTOMERS_MAX = 8192,
    ROOM_CHAIRS = 1000,
    BARBER_STEPS = 1000,
    SMOKERS_MAX = 200,
    SMOKER_STEPS = 1000,
    FILTER_CHANNELS = 8,
    FILTER_VALUES = 1000,
    SORT_AT_ONCE = 2048
};

/* Messages that one request of the client stands for, where it feeds a stream. */
enum { SAVINA_BATCH = 64 };

/*
 * what: one of SAVINA_*. who: the actor that it is for, and the key of keyed actors. from: the actor that sent it. size, left,
 * number, value: as the benchmark says.
 */
#define TASK(FIELD)                                                                                          \
    FIELD(u32, what)                                                                                         \
    FIELD(u32, who) FIELD(u32, from) FIELD(u32, size) FIELD(u64, left) FIELD(u64, number) FIELD(f64, value)
GYRE_MESSAGE(task, TASK)

/* What a benchmark comes to. beside: another number that tells that all was done. */
#define TOTAL(FIELD) FIELD(u64, count) FIELD(u64, sum) FIELD(f64, value) FIELD(f64, beside)
GYRE_MESSAGE(total, TOTAL)

/* The random number behind this one. */
#define savina_random(number) ((number)*6364136223846793005u + 1442695040888963407u)

#endif
