/* SPDX-License-Identifier: Apache-2.0 */
/* When messages were sent, handled and received, on one clock, in every form; and what cannot be told. */
#include "conformance.h"

#include <string.h>

enum { GENEROUS_NS = 1000000000 };

static gyre_runtime *open_timed(const struct conformance *test, const char *more)
{
    const char *settings[] = {"kernel.default.timing=true", more, NULL};
    gyre_open_desc open = {.size = sizeof open, .settings = settings, .backend = test->backend};
    gyre_runtime *runtime = NULL;
    must(gyre_open(&open, &runtime));
    return runtime;
}

static gyre_kernel *launch_timed(gyre_runtime *runtime, const char *file, const char *kernel)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = {.size = sizeof desc, .source = kernel_path(file), .kernel = kernel};
    must(gyre_launch(runtime, &desc, &launched));
    return launched;
}

static gyre_timing timing_of(gyre_queue *queue, uint64_t index)
{
    gyre_timing timing = {.size = sizeof timing};
    must(gyre_timing_get(queue, index, &timing));
    require(timing.sent_ns <= timing.started_ns && timing.started_ns <= timing.finished_ns);
    require(timing.finished_ns <= timing.received_ns && timing.error_ns < GENEROUS_NS);
    return timing;
}

static void call_and_check(gyre_queue *queue, const void *request, size_t size, void *reply, size_t room)
{
    gyre_completion completion;
    const uint64_t before = gyre_now_ns();
    must(gyre_call(queue, request, size, reply, room, &completion, soon()));
    const gyre_timing timing = timing_of(queue, completion.index);
    require(before <= timing.sent_ns && timing.received_ns <= gyre_now_ns());
}

static void every_form_of_kernel_is_timed(struct conformance *test)
{
    static const struct {
        const char *file, *kernel;
    } kernels[] = {{"words.gyre.c", "words_of_1"},
                   {"words.gyre.c", "words_of_7"},
                   {"words.gyre.c", "words_of_128"},
                   {"blocks.gyre.c", "neighbours"},
                   {"state.gyre.c", "tally_actor"}};
    static uint64_t request[128], reply[128];
    gyre_runtime *runtime = open_timed(test, NULL);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        gyre_queue *queue = gyre_kernel_queue(launch_timed(runtime, kernels[k].file, kernels[k].kernel));
        for (int i = 0; i < 200; i++)
            call_and_check(queue, request, stats_of(queue).request_size, reply, sizeof reply);
        gyre_queue_stats stats = stats_of(queue);
        require(stats.timed == 200);
        require(stats.waited_ns + stats.handled_ns + stats.returned_ns < 200 * (uint64_t)GENEROUS_NS);
    }
    gyre_close(runtime);
}

static void a_slow_handler_shows_as_such(struct conformance *test)
{
    enum { MICROSECONDS = 3000 };
    gyre_runtime *runtime = open_timed(test, NULL);
    gyre_queue *queue = gyre_kernel_queue(launch_timed(runtime, "behave.gyre.c", "behave"));
    behaviour request = {.what = BEHAVE_WAIT, .microseconds = MICROSECONDS};
    for (int i = 0; i < 10; i++) {
        gyre_completion completion;
        words_1 reply;
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
        gyre_timing timing = timing_of(queue, completion.index);
        require(timing.finished_ns - timing.started_ns >= (MICROSECONDS - 100) * 1000u);
        require(timing.received_ns - timing.sent_ns >= timing.finished_ns - timing.started_ns);
    }
    gyre_close(runtime);
}

static void streams_are_timed_message_by_message(struct conformance *test)
{
    enum { BATCH = 64, BATCHES = 200 };
    static words_1 requests[BATCH], replies[BATCH];
    gyre_runtime *runtime = open_timed(test, NULL);
    gyre_queue *queue = gyre_kernel_queue(launch_timed(runtime, "words.gyre.c", "words_of_1"));
    uint64_t received = 0, sent = 0;
    size_t moved = 0;
    while (received < BATCH * BATCHES) {
        const size_t left = BATCH * BATCHES - sent < BATCH ? (size_t)(BATCH * BATCHES - sent) : BATCH;
        gyre_status status = gyre_send_batch(queue, requests, sizeof requests[0], left, &moved, GYRE_NO_WAIT);
        require(status == GYRE_OK || status == GYRE_AGAIN);
        sent += moved;
        must(gyre_receive_batch(queue, replies, sizeof replies[0], BATCH, NULL, &moved, soon()));
        for (size_t i = 0; i < moved; i++)
            timing_of(queue, received + i);
        received += moved;
    }
    require(stats_of(queue).timed == BATCH * BATCHES);
    gyre_close(runtime);
}

static void one_message_of_so_many_is_timed(struct conformance *test)
{
    enum { EVERY = 32, MESSAGES = 20 * EVERY }; /* from 64 on, messages that come fast are passed over */
    gyre_timing timing = {.size = sizeof timing};
    gyre_runtime *runtime = open_timed(test, "kernel.default.timing_every=32");
    gyre_queue *queue = gyre_kernel_queue(launch_timed(runtime, "words.gyre.c", "words_of_1"));
    for (uint64_t i = 0; i < MESSAGES; i++) {
        require(call_word(queue, i) == i * 3);
        if (i % EVERY == 0) {
            timing_of(queue, i);
            continue;
        }
        require(gyre_timing_get(queue, i, &timing) == GYRE_UNAVAILABLE);
        require_sentence("kernel.NAME.timing_every = 32 times one message of so many");
    }
    const gyre_queue_stats stats = stats_of(queue);
    require(stats.timed == MESSAGES / EVERY);
    require(stats.waited_ns + stats.handled_ns + stats.returned_ns <
            MESSAGES / EVERY * (uint64_t)GENEROUS_NS);
    gyre_close(runtime);
}

/* Whoever passes messages over, the client or the device: the next one that is timed counts for them, and none counts twice. Both keep the
 * multiples of 64 turns, so only those behind the last one of these may not count yet. */
static void fast_messages_count_with_one_that_is_timed(struct conformance *test)
{
    enum { EVERY = 64, BATCH = 256, BATCHES = 80, TURNS = BATCH * BATCHES / EVERY, LAST = 63 };
    static words_1 requests[BATCH], replies[BATCH];
    gyre_runtime *runtime = open_timed(test, "kernel.default.timing_every=64");
    gyre_queue *queue = gyre_kernel_queue(launch_timed(runtime, "words.gyre.c", "words_of_1"));
    for (int batch = 0; batch < BATCHES; batch++) {
        size_t moved = 0;
        for (size_t sent = 0; sent < BATCH; sent += moved)
            must(gyre_send_batch(queue, requests, sizeof requests[0], BATCH - sent, &moved, soon()));
        for (size_t received = 0; received < BATCH; received += moved)
            must(gyre_receive_batch(queue, replies, sizeof replies[0], BATCH - received, NULL, &moved,
                                    soon()));
    }
    const gyre_queue_stats stats = stats_of(queue);
    require(stats.timed <= TURNS && stats.timed + LAST >= TURNS);
    gyre_close(runtime);
}

static void what_cannot_be_told_is_said(struct conformance *test)
{
    gyre_timing timing = {.size = sizeof timing};
    gyre_queue *untimed = gyre_kernel_queue(launch(test, "words.gyre.c", "words_of_1"));
    call_word(untimed, 1);
    require(gyre_timing_get(untimed, 0, &timing) == GYRE_INVALID);
    require_sentence("kernel.NAME.timing");
    require(stats_of(untimed).timed == 0);
    gyre_runtime *runtime = open_timed(test, "queue.default.capacity=4");
    gyre_kernel *kernel = launch_timed(runtime, "words.gyre.c", "words_of_1");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    words_1 request = {{1}}, reply;
    gyre_completion completion;
    require(gyre_timing_get(queue, 0, &timing) == GYRE_AGAIN);
    for (uint64_t i = 0; i < 10; i++)
        call_word(queue, i);
    timing_of(queue, 9);
    timing_of(queue, 6);
    require(gyre_timing_get(queue, 5, &timing) == GYRE_AGAIN);
    require_sentence("taken by a later one");
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL));
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_WAS_UNHANDLED);
    require(gyre_timing_get(queue, completion.index, &timing) == GYRE_UNAVAILABLE);
    require_sentence("left no time");
    gyre_close(runtime);
}

/* A device that has no events of its own says nothing; what one says fits into the time that passed. */
static void stays_fit_into_the_time_that_passed(struct conformance *test)
{
    const uint64_t begun = gyre_now_ns();
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    require(call_word(gyre_kernel_queue(kernel), 4) == 12);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    gyre_kernel_info info = info_of(kernel);
    require(info.stays == 0 && info.stayed_ns == 0); /* nobody asked */
    gyre_runtime *runtime = open_timed(test, NULL);
    kernel = launch_timed(runtime, "words.gyre.c", "words_of_1");
    require(call_word(gyre_kernel_queue(kernel), 5) == 15);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    info = info_of(kernel);
    require(info.stays <= info.absences + 1 && (info.stays == 0) == (info.stayed_ns == 0));
    require(info.longest_stay_ns <= info.stayed_ns && info.stayed_ns < gyre_now_ns() - begun);
    gyre_close(runtime);
}

const struct conformance_case timing_cases[] = {
    {"every_form_of_kernel_is_timed", every_form_of_kernel_is_timed},
    {"a_slow_handler_shows_as_such", a_slow_handler_shows_as_such},
    {"streams_are_timed_message_by_message", streams_are_timed_message_by_message},
    {"one_message_of_so_many_is_timed", one_message_of_so_many_is_timed},
    {"fast_messages_count_with_one_that_is_timed", fast_messages_count_with_one_that_is_timed},
    {"what_cannot_be_told_is_said", what_cannot_be_told_is_said},
    {"stays_fit_into_the_time_that_passed", stays_fit_into_the_time_that_passed},
    {NULL, NULL},
};
