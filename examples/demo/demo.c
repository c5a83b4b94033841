/* SPDX-License-Identifier: Apache-2.0 */
/* The measurements: one thread sends and receives. Nothing is printed here. */
#include "demo.h"
#include "vector_add.h"

#include <stdlib.h>

enum { BATCH = 128, LENGTH = 25, PATIENCE_MS = 10000, PROGRESS_EVERY = 1 << 18 };

/* Small integers, so that the sums are exact. */
static float a_of(uint64_t number, unsigned i)
{
    return (float)((number + i) & 0xffff);
}

static float b_of(uint64_t number, unsigned i)
{
    return (float)((number * 3 + i * 7) & 0x3ff);
}

static void fill(add_request *request, uint64_t number)
{
    for (unsigned i = 0; i < LENGTH; i++) {
        request->a[i] = a_of(number, i);
        request->b[i] = b_of(number, i);
    }
}

static unsigned is_wrong(const add_reply *reply, uint64_t number)
{
    unsigned differences = 0;
    for (unsigned i = 0; i < LENGTH; i++)
        differences += reply->sum[i] != a_of(number, i) + b_of(number, i);
    return differences != 0;
}

/* A batch that is on its way into the queue. */
struct outgoing {
    add_request requests[BATCH];
    size_t filled, accepted;
    uint64_t next; /* number of the next request to fill */
};

/* Puts as much into the queue as there is room for. */
static gyre_status feed(gyre_queue *queue, struct outgoing *out, uint64_t count)
{
    for (;;) {
        if (out->accepted == out->filled) {
            out->accepted = 0;
            for (out->filled = 0; out->filled < BATCH && out->next < count; out->filled++)
                fill(&out->requests[out->filled], out->next++);
        }
        if (out->filled == 0)
            return GYRE_OK;
        size_t sent = 0;
        gyre_status status = gyre_send_batch(queue, &out->requests[out->accepted], sizeof(add_request),
                                             out->filled - out->accepted, &sent, GYRE_NO_WAIT);
        out->accepted += sent;
        if (status == GYRE_AGAIN)
            return GYRE_OK;
        if (status != GYRE_OK)
            return status;
    }
}

static gyre_status collect(gyre_queue *queue, demo_stream_result *result)
{
    add_reply replies[BATCH];
    size_t received = 0;
    gyre_status status = gyre_receive_batch(queue, replies, sizeof replies[0], BATCH, NULL, &received,
                                            gyre_in_ms(PATIENCE_MS));
    for (size_t i = 0; i < received; i++)
        result->wrong += is_wrong(&replies[i], result->checked + i);
    result->checked += received;
    return status;
}

gyre_status demo_stream(gyre_queue *queue, uint64_t count, demo_progress *progress,
                        demo_stream_result *result)
{
    struct outgoing out = {.next = 0};
    uint64_t start_ns = gyre_now_ns(), reported = 0;
    gyre_status status = GYRE_OK;
    *result = (demo_stream_result){0};
    while (status == GYRE_OK && result->checked < count) {
        status = feed(queue, &out, count);
        if (status == GYRE_OK)
            status = collect(queue, result);
        if (result->checked - reported >= PROGRESS_EVERY) {
            reported = result->checked;
            progress(reported, count);
        }
    }
    result->elapsed_ns = gyre_now_ns() - start_ns;
    return status;
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

gyre_status demo_calls(gyre_queue *queue, uint64_t count, demo_call_result *result)
{
    gyre_status status = GYRE_OK;
    uint64_t *elapsed_ns = calloc(count, sizeof *elapsed_ns);
    *result = (demo_call_result){0};
    if (!elapsed_ns)
        return GYRE_EXHAUSTED;
    for (uint64_t i = 0; status == GYRE_OK && i < count; i++) {
        add_request request;
        add_reply reply;
        fill(&request, i);
        uint64_t start_ns = gyre_now_ns();
        status =
            gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, gyre_in_ms(PATIENCE_MS));
        elapsed_ns[i] = gyre_now_ns() - start_ns;
        if (status == GYRE_OK)
            result->wrong += is_wrong(&reply, i);
    }
    qsort(elapsed_ns, count, sizeof *elapsed_ns, by_value);
    result->p50_ns = elapsed_ns[count / 2];
    result->p99_ns = elapsed_ns[count * 99 / 100];
    free(elapsed_ns);
    return status;
}
