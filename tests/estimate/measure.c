/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what `gyre estimate` estimates: the rate of a stream through one queue and one block, and the latency of calls alone. The
 * tables of docs/simulator.md are made with it, on a machine with a GPU. It prints one line: NAME RATE MEDIAN_NS MESSAGES.
 *
 * usage: estimate_measure BACKEND KERNEL.so FOLDER NAME LANES [SECONDS]
 *
 * FOLDER holds NAME.gyre.c and the case of tests/kernels/kernel_case.h. LANES 0: those of the case.
 */
#include "tests/kernels/kernel_case.h"

#include "core/types/message.h"
#include "gyre/gyre.h"
#include "gyre/waiting.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 20000, BURST = 1024, CALLS = 201, SIZE_MOST = 256 * 1024 };

struct stream {
    gyre_queue *queue;
    const struct kernel_case *test;
    unsigned char
        *requests; /* a burst, beside each other, or one after the other where each has a size of its own */
    size_t lengths[BURST];
    bool packets;
    uint64_t until_ns;
    _Atomic uint64_t sent;
    _Atomic bool ended;
};

static void must(gyre_status status, const char *what)
{
    if (status != GYRE_OK)
        case_die("%s: %s: %s", what, gyre_status_word(status), gyre_error_text());
}

/* Fills the burst with the requests of the case, over and over. */
static void fill(struct stream *stream)
{
    const struct kernel_case *const test = stream->test;
    const size_t size = test->request->size;
    stream->packets = test->request->shape == GYRE_SHAPE_PACKET;
    stream->requests = calloc(BURST, size + 1);
    for (size_t i = 0; stream->requests && i < BURST; i++) {
        memcpy(stream->requests + i * size, test->requests[i % test->count], size);
        stream->lengths[i] =
            stream->packets ? gyre_layout_length(test->request, test->requests[i % test->count]) : size;
    }
}

static const void *request_of(const struct stream *stream, size_t index, size_t *size)
{
    const uint32_t front = stream->packets ? GYRE_PACKET_FRONT : 0;
    *size = stream->lengths[index] - front;
    return stream->requests + index * stream->test->request->size + front;
}

static void send_burst(struct stream *stream)
{
    const uint64_t deadline = gyre_in_ms(PATIENCE_MS);
    size_t size, sent = 0;
    if (!stream->packets && !stream->test->request->has_parts) {
        for (size_t done = 0; done < BURST; done += sent) {
            must(gyre_send_batch(stream->queue, stream->requests + done * stream->test->request->size,
                                 stream->test->request->size, BURST - done, &sent, deadline),
                 "send");
            stream->sent += sent;
        }
        return;
    }
    for (size_t i = 0; i < BURST; i++, stream->sent++) {
        const void *const request = request_of(stream, i, &size);
        must(gyre_send(stream->queue, request, size, NULL, deadline), "send");
    }
}

static void *send_all(void *context)
{
    struct stream *const stream = context;
    while (gyre_clock_ns() < stream->until_ns)
        send_burst(stream);
    stream->ended = true;
    return NULL;
}

static size_t reply_size(const struct kernel_case *test)
{
    return test->reply->size - (test->reply->shape == GYRE_SHAPE_PACKET ? GYRE_PACKET_FRONT : 0);
}

/* The rate of what is answered while requests are sent. */
static double measure_rate(struct stream *stream, double seconds, uint64_t *messages)
{
    pthread_t sender;
    unsigned char *const replies = malloc((size_t)BURST * (stream->test->reply->size + 1));
    const size_t size = reply_size(stream->test);
    static gyre_completion completions[BURST];
    uint64_t received = 0;
    const uint64_t began = gyre_clock_ns();
    stream->ended = false;
    stream->sent = 0;
    stream->until_ns = began + (uint64_t)(seconds * 1e9);
    if (!replies || pthread_create(&sender, NULL, send_all, stream) != 0)
        case_die("no memory, or no thread");
    while (!stream->ended || received < stream->sent) {
        size_t found = 0;
        if (received == stream->sent)
            continue;
        must(gyre_receive_batch(stream->queue, replies, size, BURST, completions, &found,
                                gyre_in_ms(PATIENCE_MS)),
             "receive");
        received += found;
    }
    const uint64_t ended = gyre_clock_ns();
    pthread_join(sender, NULL);
    free(replies);
    *messages = received;
    return (double)received * 1e9 / (double)(ended - began);
}

static int compare(const void *left, const void *right)
{
    const uint64_t one = *(const uint64_t *)left, other = *(const uint64_t *)right;
    return one < other ? -1 : one > other;
}

static uint64_t median_call(const struct stream *stream)
{
    static uint64_t times[CALLS];
    gyre_completion completion;
    size_t size;
    unsigned char *const reply = malloc(stream->test->reply->size + 1);
    for (size_t i = 0; reply && i < CALLS; i++) {
        const void *const request = request_of(stream, i % BURST, &size);
        const uint64_t began = gyre_clock_ns();
        must(gyre_send(stream->queue, request, size, NULL, gyre_in_ms(PATIENCE_MS)), "send");
        must(gyre_receive(stream->queue, reply, reply_size(stream->test), &completion,
                          gyre_in_ms(PATIENCE_MS)),
             "receive");
        times[i] = gyre_clock_ns() - began;
    }
    free(reply);
    qsort(times, CALLS, sizeof times[0], compare);
    return times[CALLS / 2];
}

static void bind_buffers(gyre_runtime *runtime, const char *backend, const struct kernel_case *test,
                         gyre_binding_name *bindings)
{
    for (uint32_t i = 0; i < test->buffer_count; i++) {
        const struct case_memory *const memory = &test->buffers[i];
        bindings[i].name = memory->name;
        must(gyre_buffer_alloc(runtime, backend, 0, memory->layout->size, &bindings[i].buffer), memory->name);
        must(gyre_buffer_upload(bindings[i].buffer, 0, memory->bytes, memory->layout->size), memory->name);
    }
}

int main(int count, char **arguments)
{
    char source[4096];
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    gyre_binding_name bindings[CASE_BUFFERS_MAX];
    uint64_t messages;
    if (count < 6)
        case_die("usage: estimate_measure BACKEND KERNEL.so FOLDER NAME LANES [SECONDS]");
    struct stream stream = {.test = case_load(arguments[2], arguments[3], arguments[4])};
    const double seconds = count > 6 ? strtod(arguments[6], NULL) : 0.15;
    const uint32_t lanes = (uint32_t)strtoul(arguments[5], NULL, 10);
    snprintf(source, sizeof source, "%s/%s.gyre.c", arguments[3], arguments[4]);
    must(gyre_open(&(gyre_open_desc){.size = sizeof(gyre_open_desc), .backend = arguments[1]}, &runtime),
         "open");
    bind_buffers(runtime, arguments[1], stream.test, bindings);
    must(gyre_launch(
             runtime,
             &(gyre_launch_desc){.size = sizeof(gyre_launch_desc),
                                 .source = source,
                                 .backend = arguments[1],
                                 .lanes = lanes ? lanes : stream.test->lanes,
                                 .blocks = 1,
                                 .state = stream.test->state.bytes,
                                 .state_size = stream.test->state.bytes ? stream.test->state.layout->size : 0,
                                 .bindings = bindings,
                                 .binding_count = stream.test->buffer_count},
             &kernel),
         "launch");
    stream.queue = gyre_kernel_queue(kernel);
    fill(&stream);
    const uint64_t median_ns = median_call(&stream);
    measure_rate(&stream, seconds / 4, &messages);
    const double rate = measure_rate(&stream, seconds, &messages);
    printf("%s %.0f %llu %llu\n", arguments[4], rate, (unsigned long long)median_ns,
           (unsigned long long)messages);
    gyre_close(runtime);
    free(stream.requests);
    return EXIT_SUCCESS;
}
