/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: every size, every outcome, every way to send and receive, each reply checked. */
#include "conformance.h"
#include "../patience.h"

#include <stdlib.h>
#include <string.h>

/* Streams `count` messages of `words` words with a window, and checks every word of every reply in order. */
static void stream_words(gyre_queue *queue, uint32_t words, uint64_t count)
{
    enum { BATCH = 32 };
    size_t size = words * sizeof(uint64_t), moved = 0;
    uint64_t *requests = calloc(BATCH, size), *replies = calloc(BATCH, size);
    uint64_t sent = 0, received = 0;
    require(requests && replies);
    while (received < count) {
        size_t wanted = count - sent < BATCH ? (size_t)(count - sent) : BATCH;
        for (uint64_t i = 0; i < wanted * words; i++)
            requests[i] = (sent + i / words) * 1000003 + i % words;
        gyre_status status = gyre_send_batch(queue, requests, size, wanted, &moved, GYRE_NO_WAIT);
        require(status == GYRE_OK || status == GYRE_AGAIN);
        sent += moved;
        must(gyre_receive_batch(queue, replies, size, BATCH, NULL, &moved, soon()));
        for (uint64_t i = 0; i < moved * words; i++)
            require(replies[i] == ((received + i / words) * 1000003 + i % words) * 3 + i % words);
        received += moved;
    }
    free(requests);
    free(replies);
}

static void stream_size(struct conformance *test, const char *kernel, uint32_t words, uint64_t count)
{
    stream_words(gyre_kernel_queue(launch(test, "words.gyre.c", kernel)), words, count);
}

static void small_messages_stream_in_order(struct conformance *test)
{
    stream_size(test, "words_of_6", 6, 200000);
}

static void messages_of_8_bytes(struct conformance *test)
{
    stream_size(test, "words_of_1", 1, 50000);
}

static void messages_just_over_a_line(struct conformance *test)
{
    stream_size(test, "words_of_7", 7, 50000);
}

static void messages_of_1024_bytes(struct conformance *test)
{
    stream_size(test, "words_of_128", 128, 20000);
}

static void messages_of_65536_bytes(struct conformance *test)
{
    stream_size(test, "words_of_8192", 8192, 2000);
}

static void outcomes_reach_the_sender(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "behave.gyre.c", "behave"));
    static const uint32_t what[] = {BEHAVE_REPLY, BEHAVE_NO_REPLY, BEHAVE_FAIL, BEHAVE_ASSERT, BEHAVE_ASSERT};
    static const uint64_t numbers[] = {5, 0, 77, 3, 30};
    gyre_completion completion[5];
    words_1 replies[5];
    for (int i = 0; i < 5; i++) {
        behaviour request = {.what = what[i], .number = numbers[i]};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    for (int i = 0; i < 5; i++)
        must(gyre_receive(queue, &replies[i], sizeof replies[i], &completion[i], soon()));
    require(completion[0].outcome == GYRE_REPLIED && replies[0].w[0] == 6 && completion[0].length == 8);
    require(completion[1].outcome == GYRE_NOT_REPLIED && completion[1].length == 0);
    require(completion[2].outcome == GYRE_HANDLER_FAILED && completion[2].failure_code == 77);
    require(!strcmp(completion[2].failure_text, "asked to fail"));
    require(completion[3].outcome == GYRE_REPLIED && replies[3].w[0] == 4);
    require(completion[4].outcome == GYRE_HANDLER_FAILED && completion[4].failure_code == -2);
    require(strstr(completion[4].failure_text, "behave.gyre.c") != NULL);
}

static void a_handler_without_a_result_has_failed(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "behave.gyre.c", "behave"));
    behaviour request = {.what = BEHAVE_NONSENSE};
    gyre_completion completion;
    words_1 reply;
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == -5);
    require(strstr(completion.failure_text, "it returned no GYRE_REPLY") != NULL);
}

static void a_failure_code_below_0_is_refused(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "behave.gyre.c", "behave"));
    static const int codes[] = {-1, -2, -5, -6, INT32_MIN};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        behaviour request = {.what = BEHAVE_FAIL, .number = (uint64_t)codes[i]};
        gyre_completion completion;
        words_1 reply;
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == -6);
        require(!strcmp(completion.failure_text, "gyre_fail: own codes are 0 and up"));
    }
}

static void a_failed_call_returns_the_handlers_words(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "behave.gyre.c", "behave"));
    behaviour request = {.what = BEHAVE_FAIL, .number = 3};
    words_1 reply;
    require(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()) == GYRE_FAILED);
    require_sentence("code 3: asked to fail");
    request.what = BEHAVE_REPLY;
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
}

/* Without room, or with too little, a reply stays where it is. */
static void a_reply_that_has_no_room_is_kept(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "behave.gyre.c", "behave"));
    behaviour request = {.what = BEHAVE_REPLY, .number = 8};
    gyre_completion completion;
    words_1 reply;
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    require(gyre_receive(queue, &reply, sizeof reply - 1, &completion, soon()) == GYRE_INVALID);
    require(gyre_receive(queue, NULL, 0, &completion, soon()) == GYRE_INVALID);
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(reply.w[0] == 9 && completion.length == sizeof reply);
}

static void handlers_log_to_the_host(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "behave.gyre.c", "behave"));
    behaviour request = {.what = BEHAVE_LOG, .number = 4711};
    words_1 reply;
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    uint64_t deadline = soon();
    while (!has_logged(test, "number is 4711") && gyre_now_ns() < deadline)
        ;
    require(has_logged(test, "number is 4711"));
}

static void a_call_that_is_too_late_says_so(struct conformance *test)
{
    enum { WAIT_MOST_US = 4000000 };
    gyre_queue *queue = gyre_kernel_queue(launch(test, "behave.gyre.c", "behave"));
    const uint64_t usual_us = patiently(500000), wait_us = usual_us < WAIT_MOST_US ? usual_us : WAIT_MOST_US;
    behaviour request = {.what = BEHAVE_WAIT, .microseconds = (u32)wait_us, .number = 1};
    words_1 reply;
    uint64_t start = gyre_now_ns();
    require(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, gyre_in_ms(10)) ==
            GYRE_TIMEOUT);
    require(gyre_now_ns() - start < wait_us * 900);
    request = (behaviour){.what = BEHAVE_REPLY, .number = 8};
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.w[0] == 9); /* its own, not the late one */
    for (uint64_t limit = soon();
         stats_of(queue).abandoned != 1;) { /* devices may answer the second call first */
        require(gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
        require(gyre_now_ns() < limit);
    }
}

/* As of who takes a deadline for milliseconds. The message is under way for as long as that. */
static void a_deadline_that_is_no_time_is_told(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "behave.gyre.c", "behave"));
    behaviour request = {.what = BEHAVE_WAIT, .microseconds = 300000, .number = 1};
    words_1 reply;
    require(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, 5000) == GYRE_TIMEOUT);
    require_sentence("in the past before the call: a deadline is a time, as gyre_in_ms(5000) gives");
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    require(gyre_receive(queue, &reply, sizeof reply, NULL, 5000) == GYRE_TIMEOUT);
    require_sentence("a deadline is a time");
    must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
}

static void a_batch_never_waits_to_fill(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "words.gyre.c", "words_of_1"));
    words_1 request = {{2}}, replies[64];
    size_t received = 0;
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    uint64_t start = gyre_now_ns();
    must(gyre_receive_batch(queue, replies, sizeof replies[0], 64, NULL, &received, soon()));
    require(received == 1 && replies[0].w[0] == 6);
    require(gyre_now_ns() - start < patiently(UINT64_C(5000000000)));
}

static void messages_travel_without_copies(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "words.gyre.c", "words_of_6"));
    uint64_t sent = 0, received = 0;
    while (received < 20000) {
        void *place = NULL;
        size_t stride = 0, count = 20, found = 0;
        gyre_view views[50];
        if (sent < 20000 && gyre_reserve(queue, &place, &stride, &count, GYRE_NO_WAIT) == GYRE_OK) {
            for (size_t i = 0; i < count; i++)
                for (uint64_t k = 0; k < 6; k++)
                    ((words_6 *)(void *)((char *)place + i * stride))->w[k] = sent + i + k;
            must(gyre_commit(queue, count));
            sent += count;
        }
        must(gyre_peek(queue, views, 50, &found, soon()));
        for (size_t i = 0; i < found; i++)
            for (uint64_t k = 0; k < 6; k++)
                require(((const words_6 *)views[i].reply)->w[k] == (received + i + k) * 3 + k);
        must(gyre_release_views(queue, found));
        received += found;
    }
}

const struct conformance_case message_cases[] = {
    {"small_messages_stream_in_order", small_messages_stream_in_order},
    {"messages_of_8_bytes", messages_of_8_bytes},
    {"messages_just_over_a_line", messages_just_over_a_line},
    {"messages_of_1024_bytes", messages_of_1024_bytes},
    {"messages_of_65536_bytes", messages_of_65536_bytes},
    {"outcomes_reach_the_sender", outcomes_reach_the_sender},
    {"a_handler_without_a_result_has_failed", a_handler_without_a_result_has_failed},
    {"a_failure_code_below_0_is_refused", a_failure_code_below_0_is_refused},
    {"a_failed_call_returns_the_handlers_words", a_failed_call_returns_the_handlers_words},
    {"a_reply_that_has_no_room_is_kept", a_reply_that_has_no_room_is_kept},
    {"handlers_log_to_the_host", handlers_log_to_the_host},
    {"a_call_that_is_too_late_says_so", a_call_that_is_too_late_says_so},
    {"a_deadline_that_is_no_time_is_told", a_deadline_that_is_no_time_is_told},
    {"a_batch_never_waits_to_fill", a_batch_never_waits_to_fill},
    {"messages_travel_without_copies", messages_travel_without_copies},
    {NULL, NULL},
};
