/* SPDX-License-Identifier: Apache-2.0 */
/* Bare loops in C on a queue of the Python package, for bench.py: what the same messages cost without Python. */
#include <gyre/gyre.h>
#include <string.h>

#pragma GCC visibility push(default)
double bench_calls(gyre_queue *queue, size_t count);
double bench_batch(gyre_queue *queue, const void *requests, size_t request_size, void *replies,
                   size_t reply_size, size_t count);
double bench_in_place(gyre_queue *queue, size_t count, size_t at_once);
#pragma GCC visibility pop

typedef struct sample {
    double value, factor;
} sample;

static double seconds(uint64_t began_ns)
{
    return (double)(gyre_now_ns() - began_ns) / 1e9;
}

/* Seconds for `count` calls, each of which waits for its reply; below 0 after a wrong one. */
double bench_calls(gyre_queue *queue, size_t count)
{
    const uint64_t began = gyre_now_ns();
    for (size_t i = 0; i < count; i++) {
        const sample request = {.value = (double)i, .factor = 2};
        double reply = 0;
        if (gyre_send(queue, &request, sizeof request, NULL, GYRE_FOREVER) != GYRE_OK ||
            gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_FOREVER) != GYRE_OK ||
            reply != request.value * 2)
            return -1;
    }
    return seconds(began);
}

/* Seconds for a batch in memory. */
double bench_batch(gyre_queue *queue, const void *requests, size_t request_size, void *replies,
                   size_t reply_size, size_t count)
{
    const uint64_t began = gyre_now_ns();
    size_t sent = 0, received = 0, moved;
    while (received < count) {
        const gyre_status status = gyre_send_batch(queue, (const char *)requests + sent * request_size,
                                                   request_size, count - sent, &moved, GYRE_NO_WAIT);
        if (sent < count && status != GYRE_OK && status != GYRE_AGAIN)
            return -1;
        sent += sent < count ? moved : 0;
        const size_t owed = sent - received;
        if (gyre_receive_batch(queue, (char *)replies + received * reply_size, reply_size,
                               owed < 512 ? owed : 512, NULL, &moved, GYRE_FOREVER) != GYRE_OK)
            return -1;
        received += moved;
    }
    return seconds(began);
}

/* Seconds for messages that are written and read in place, `at_once` at most at a time. */
double bench_in_place(gyre_queue *queue, size_t count, size_t at_once)
{
    enum { MOST = 4096 };
    static gyre_view views[MOST];
    const uint64_t began = gyre_now_ns();
    double sum = 0, expected = 0;
    for (size_t received = 0; received < count;) {
        void *place;
        size_t stride, granted = at_once < MOST ? at_once : MOST, found = 0;
        if (gyre_reserve(queue, &place, &stride, &granted, GYRE_FOREVER) != GYRE_OK)
            return -1;
        for (size_t i = 0; i < granted; i++) {
            const sample request = {.value = (double)i, .factor = 2};
            memcpy((char *)place + i * stride, &request, sizeof request);
            expected += request.value * 2;
        }
        if (gyre_commit(queue, granted) != GYRE_OK)
            return -1;
        for (size_t left = granted; left; left -= found) {
            if (gyre_peek(queue, views, left, &found, GYRE_FOREVER) != GYRE_OK)
                return -1;
            for (size_t i = 0; i < found; i++) {
                double reply;
                memcpy(&reply, views[i].reply, sizeof reply);
                sum += reply;
            }
            if (gyre_release_views(queue, found) != GYRE_OK)
                return -1;
        }
        received += granted;
    }
    return sum == expected ? seconds(began) : -1;
}
