/* SPDX-License-Identifier: Apache-2.0 */
/* A tour of the host's side: docs/applications.md explains each step. */
#include <gyre/gyre.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "tour.h"

enum { CHANNELS = 4, SAMPLES = 10000, BATCH = 64 };

/* Every call that can fail says why. */
static void must(gyre_status status)
{
    if (status == GYRE_OK)
        return;
    fprintf(stderr, "tour: %s: %s\n", gyre_status_word(status), gyre_error_text());
    exit(1);
}

static gyre_kernel *launch_scale(gyre_runtime *runtime, const char *source, gyre_buffer *gains)
{
    gyre_kernel *kernel;
    const gyre_binding_name bindings[] = {{"gain", gains}};
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = source,
                                   .kernel = "scale",
                                   .request = GYRE_TYPE(sample),
                                   .reply = GYRE_TYPE(scaled),
                                   .bindings = bindings,
                                   .binding_count = 1};
    must(gyre_launch(runtime, &desc, &kernel));
    return kernel;
}

static gyre_buffer *make_gains(gyre_runtime *runtime)
{
    gyre_buffer *buffer;
    const double gains[CHANNELS] = {1, 10, 100, 1000};
    must(gyre_buffer_alloc(runtime, NULL, 0, sizeof gains, &buffer));
    must(gyre_buffer_upload(buffer, 0, gains, sizeof gains));
    return buffer;
}

/* Batches, copied: both calls take what is possible and never wait for a batch to fill. */
static double stream_in_batches(gyre_queue *queue)
{
    sample requests[BATCH];
    scaled replies[BATCH];
    size_t sent = 0, received = 0, moved;
    double sum = 0;
    while (received < SAMPLES) {
        size_t count = SAMPLES - sent < BATCH ? SAMPLES - sent : BATCH;
        for (size_t i = 0; i < count; i++)
            requests[i] = (sample){.channel = (uint32_t)((sent + i) % CHANNELS), .value = 1};
        gyre_status status = gyre_send_batch(queue, requests, sizeof *requests, count, &moved, GYRE_NO_WAIT);
        if (status != GYRE_AGAIN) /* it is full: receive first */
            must(status);
        sent += moved;
        must(gyre_receive_batch(queue, replies, sizeof *replies, BATCH, NULL, &moved, gyre_in_ms(5000)));
        for (size_t i = 0; i < moved; i++)
            sum += replies[i].value;
        received += moved;
    }
    return sum;
}

/* The same in place: requests are written where the device reads them, replies read where it wrote them. */
static double stream_in_place(gyre_queue *queue)
{
    size_t sent = 0, received = 0;
    double sum = 0;
    while (received < SAMPLES) {
        void *place;
        gyre_view views[BATCH];
        size_t stride, found, count = SAMPLES - sent < BATCH ? SAMPLES - sent : BATCH;
        if (count && gyre_reserve(queue, &place, &stride, &count, GYRE_NO_WAIT) == GYRE_OK) {
            for (size_t i = 0; i < count; i++)
                *(sample *)(void *)((char *)place + i * stride) =
                    (sample){.channel = (uint32_t)((sent + i) % CHANNELS), .value = 1};
            must(gyre_commit(queue, count));
            sent += count;
        }
        must(gyre_peek(queue, views, BATCH, &found, gyre_in_ms(5000)));
        for (size_t i = 0; i < found; i++)
            if (views[i].outcome == GYRE_REPLIED)
                sum += ((const scaled *)views[i].reply)->value;
        must(gyre_release_views(queue, found));
        received += found;
    }
    return sum;
}

/* A handler's failure reaches the sender, with its code and its words. */
static void show_failure(gyre_queue *queue)
{
    const sample wrong = {.channel = 99, .value = 1};
    scaled reply;
    gyre_completion completion;
    must(gyre_call(queue, &wrong, sizeof wrong, &reply, sizeof reply, &completion, gyre_in_ms(5000)));
    if (completion.outcome == GYRE_HANDLER_FAILED)
        printf("channel 99: code %d, %s\n", completion.failure_code, completion.failure_text);
}

/* An event loop: the descriptor is readable while completions wait. */
static void wait_in_event_loop(gyre_queue *queue)
{
    const sample request = {.channel = 3, .value = 2};
    scaled reply;
    struct pollfd event = {.events = POLLIN};
    must(gyre_queue_descriptor(queue, &event.fd));
    must(gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(5000)));
    if (poll(&event, 1, 5000) != 1)
        must(GYRE_TIMEOUT);
    must(gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT));
    printf("event loop: %g\n", reply.value);
}

/* One descriptor for several queues: the set says which of them have something. */
static void watch_both(gyre_queue *numbers, gyre_queue *more)
{
    const sample request = {.channel = 1, .value = 7};
    scaled reply;
    gyre_queue_set *set;
    gyre_wish ready[2];
    size_t count, received = 0;
    struct pollfd event = {.events = POLLIN};
    must(gyre_queue_set_create(&set));
    must(gyre_queue_set_add(set, &(gyre_wish){.queue = numbers, .wants = GYRE_WISH_COMPLETION}));
    must(gyre_queue_set_add(set, &(gyre_wish){.queue = more, .wants = GYRE_WISH_COMPLETION}));
    must(gyre_queue_set_descriptor(set, &event.fd));
    must(gyre_send(numbers, &request, sizeof request, NULL, gyre_in_ms(5000)));
    must(gyre_send(more, &request, sizeof request, NULL, gyre_in_ms(5000)));
    while (received < 2) {
        if (poll(&event, 1, 5000) != 1)
            must(GYRE_TIMEOUT);
        while (gyre_queue_set_wait(set, ready, 2, &count, GYRE_NO_WAIT) == GYRE_OK)
            for (size_t i = 0; i < count; i++, received++)
                must(gyre_receive(ready[i].queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT));
    }
    printf("both queues: %zu replies\n", received);
    gyre_queue_set_destroy(set);
}

static void watch_another(gyre_kernel *kernel)
{
    gyre_queue *more;
    const gyre_queue_desc desc = {.size = sizeof desc, .name = "more", .capacity = 16};
    must(gyre_queue_open(kernel, &desc, &more));
    watch_both(gyre_kernel_queue(kernel), more);
    gyre_queue_close(more);
}

/* Two kernels in a row: replies of the first become requests of the second, and both work meanwhile. */
static totals pass_on(gyre_queue *first, gyre_queue *second)
{
    scaled between;
    totals sums = {0};
    size_t passed = 0, received = 0;
    for (uint32_t i = 0; i < BATCH; i++) {
        const sample request = {.channel = i % CHANNELS, .value = 1};
        must(gyre_send(first, &request, sizeof request, NULL, gyre_in_ms(5000)));
    }
    while (received < BATCH) {
        if (passed < BATCH) {
            must(gyre_receive(first, &between, sizeof between, NULL, gyre_in_ms(5000)));
            const sample onward = {.value = between.value};
            must(gyre_send(second, &onward, sizeof onward, NULL, gyre_in_ms(5000)));
            passed++;
        }
        const uint64_t deadline = passed < BATCH ? GYRE_NO_WAIT : gyre_in_ms(5000);
        const gyre_status status = gyre_receive(second, &sums, sizeof sums, NULL, deadline);
        if (status != GYRE_AGAIN) /* there is none yet */
            must(status);
        received += status == GYRE_OK;
    }
    return sums;
}

static void run_in_a_row(gyre_runtime *runtime, const char *source, gyre_queue *scale)
{
    gyre_kernel *kernel;
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = source,
                                   .kernel = "total",
                                   .request = GYRE_TYPE(sample),
                                   .reply = GYRE_TYPE(totals)};
    must(gyre_launch(runtime, &desc, &kernel));
    const totals sums = pass_on(scale, gyre_kernel_queue(kernel));
    printf("in a row: %llu samples, sum %g\n", (unsigned long long)sums.count, sums.sum);
    must(gyre_kernel_terminate(kernel, gyre_in_ms(1000), NULL));
    gyre_kernel_release(kernel);
}

/* An actor begins with a state, and gives it back when it is paused. A second queue is for a second thread. */
static void talk_to_actor(gyre_runtime *runtime, const char *source)
{
    gyre_kernel *kernel;
    gyre_queue *other;
    const totals before = {.count = 100, .sum = 1000};
    const sample request = {.value = 5};
    totals reply, after;
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = source,
                                   .kernel = "total",
                                   .request = GYRE_TYPE(sample),
                                   .reply = GYRE_TYPE(totals),
                                   .state = &before,
                                   .state_size = sizeof before};
    const gyre_queue_desc queue = {.size = sizeof queue, .name = "other", .capacity = 16};
    must(gyre_launch(runtime, &desc, &kernel));
    must(gyre_queue_open(kernel, &queue, &other));
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                   gyre_in_ms(5000)));
    must(gyre_call(other, &request, sizeof request, &reply, sizeof reply, NULL, gyre_in_ms(5000)));
    must(gyre_kernel_state_read(kernel, &after, sizeof after));
    printf("actor: %llu samples, sum %g\n", (unsigned long long)after.count, after.sum);
    must(gyre_kernel_terminate(kernel, gyre_in_ms(1000), NULL));
    gyre_kernel_release(kernel);
}

int main(int argc, char **argv)
{
    const char *source = argc > 1 ? argv[1] : "tour.gyre.c";
    gyre_runtime *runtime;
    must(gyre_open(NULL, &runtime));
    gyre_buffer *gains = make_gains(runtime);
    gyre_kernel *scale = launch_scale(runtime, source, gains);
    gyre_queue *queue = gyre_kernel_queue(scale);
    printf("batches: %g\n", stream_in_batches(queue));
    printf("in place: %g\n", stream_in_place(queue));
    show_failure(queue);
    wait_in_event_loop(queue);
    watch_another(scale);
    run_in_a_row(runtime, source, queue);
    talk_to_actor(runtime, source);
    gyre_close(runtime); /* frees the kernel and the buffer as well */
    return 0;
}
