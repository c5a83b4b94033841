/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the wire form of the 42-byte request of VectorAdd costs on the host: the functions that `gyre wire`
 * wrote, each through a call, beside a memcpy of the same bytes through a call. Rows of messages that stay in
 * the first level of cache; the median of many rounds; every result is checked. Prints one JSON document.
 *
 * usage: bench_wire [SECONDS]      SECONDS for each row
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gyre/gyre.h"
#include "kernels/wire_add.h"
#include "kernels/wire_add_wire.h"

enum { ROW = 64, BYTES = 42, CALLS = ROW * 64, ROUNDS_MAX = 100000 };

static add_request sent[ROW], received[ROW];
static uint8_t wire[ROW][BYTES], copied[ROW][BYTES];

static __attribute__((noinline)) bool encode(size_t i)
{
    gyre_wire_out out = {.bytes = wire[i], .room = BYTES};
    return gyre_encode_add_request(&out, &sent[i]) == BYTES;
}

static __attribute__((noinline)) bool decode(size_t i)
{
    gyre_wire_in in = {.bytes = wire[i], .length = BYTES};
    return gyre_decode_add_request(&in, &received[i]);
}

/* Through a pointer that the compiler does not know, with a length that it does not know. */
static void *(*volatile copier)(void *, const void *, size_t) = memcpy;
static volatile size_t copied_size = BYTES;

static __attribute__((noinline)) bool copy(size_t i)
{
    return copier(copied[i], wire[i], copied_size) == copied[i];
}

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Median nanoseconds of a call; negative when one failed. */
static double measure(bool (*call)(size_t i), double seconds)
{
    static double rounds[ROUNDS_MAX];
    const uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
    size_t count = 0, right = 0;
    while (count < ROUNDS_MAX && (count == 0 || now_ns() < end)) {
        const uint64_t start = now_ns();
        for (size_t i = 0; i < CALLS; i++)
            right += call(i % ROW);
        rounds[count++] = (double)(now_ns() - start) / (double)CALLS;
    }
    qsort(rounds, count, sizeof rounds[0], by_size);
    return right == count * CALLS ? rounds[count / 2] : -1.0;
}

/* Every second message has a correlation id. */
static bool fill(void)
{
    for (size_t i = 0; i < ROW; i++) {
        id128 id;
        memset(&id, (int)i + 1, sizeof id);
        gyre_begin(&sent[i]);
        sent[i].id = id;
        sent[i].priority = (uint8_t)i;
        sent[i].a = (float)i;
        sent[i].b = 0.5f;
        if (i % 2 == 0 && gyre_put(&sent[i], &sent[i].correlation, &id, 1) != GYRE_OK)
            return false;
    }
    return true;
}

static bool came_back(void)
{
    for (size_t i = 0; i < ROW; i++)
        if (memcmp(&sent[i], &received[i], sent[i].gyre_used) != 0 || memcmp(wire[i], copied[i], BYTES) != 0)
            return false;
    return true;
}

int main(int count, char **arguments)
{
    const double seconds = count > 1 ? strtod(arguments[1], NULL) : 1.0;
    if (!fill())
        return EXIT_FAILURE;
    const double encode_ns = measure(encode, seconds);
    const double decode_ns = measure(decode, seconds);
    const double copy_ns = measure(copy, seconds);
    const bool fine = encode_ns > 0 && decode_ns > 0 && copy_ns > 0 && came_back();
    printf(
        "{\"message\": \"VectorAdd request\", \"bytes\": %d, \"encode_ns\": %.2f, \"decode_ns\": %.2f, "
        "\"memcpy_ns\": %.2f, \"encode_over_memcpy\": %.2f, \"decode_over_memcpy\": %.2f, \"right\": %s}\n",
        BYTES, encode_ns, decode_ns, copy_ns, encode_ns / copy_ns, decode_ns / copy_ns,
        fine ? "true" : "false");
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
