/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that come alone, as a caller sends them who waits for each reply: a device may take a shorter way for these
 * than for streams, and every mixture of the two. */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "conformance.h"
#include "kernels/calls.h"

enum { WORDS_MOST = 257, CALLS = 400, CALLERS = 3 };

static void fill(uint64_t *words, uint32_t count, uint64_t seed)
{
    for (uint32_t i = 0; i < count; i++)
        words[i] = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + i * UINT64_C(1000003);
}

/* `asked` words of a request, repeated as they are, are the reply's. */
static void check(const uint64_t *reply, uint32_t count, const uint64_t *request, uint32_t asked,
                  uint32_t from)
{
    for (uint32_t i = from; i < count; i++)
        require(reply[i] == request[i % asked] * 3 + i);
}

/* By a call; by a send and a receive; built and read in place. */
static void exchange(gyre_queue *queue, unsigned way, const uint64_t *request, size_t request_size,
                     uint64_t *reply, size_t reply_size)
{
    void *place;
    size_t stride, count = 1, found;
    gyre_view view;
    gyre_completion completion;
    if (way == 0) {
        must(gyre_call(queue, request, request_size, reply, reply_size, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && completion.length == reply_size);
    } else if (way == 1) {
        must(gyre_send(queue, request, request_size, NULL, soon()));
        must(gyre_receive(queue, reply, reply_size, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && completion.length == reply_size);
    } else {
        must(gyre_reserve(queue, &place, &stride, &count, soon()));
        memcpy(place, request, request_size);
        must(gyre_commit(queue, 1));
        must(gyre_peek(queue, &view, 1, &found, soon()));
        require(found == 1 && view.outcome == GYRE_REPLIED && view.length == reply_size);
        memcpy(reply, view.reply, reply_size);
        must(gyre_release_views(queue, 1));
    }
}

static void call_one_at_a_time(gyre_queue *queue, uint32_t asked, uint32_t answered, uint32_t from)
{
    uint64_t request[WORDS_MOST], reply[WORDS_MOST];
    for (unsigned i = 0; i < CALLS; i++) {
        fill(request, asked, i);
        memset(reply, 0, sizeof reply);
        exchange(queue, i / 7 % 4 % 3, request, asked * sizeof *request, reply, answered * sizeof *reply);
        check(reply, answered, request, asked, from);
    }
}

static void lone_messages_of_200_bytes(struct conformance *test)
{
    call_one_at_a_time(gyre_kernel_queue(launch(test, "calls.gyre.c", "lane_25")), 25, 25, 0);
}

static void lone_messages_of_2056_bytes(struct conformance *test)
{
    call_one_at_a_time(gyre_kernel_queue(launch(test, "calls.gyre.c", "lane_257")), 257, 257, 0);
}

static void lone_messages_of_2048_bytes_to_a_block(struct conformance *test)
{
    call_one_at_a_time(gyre_kernel_queue(launch(test, "calls.gyre.c", "block_256")), 256, 256, 0);
}

static void lone_messages_with_larger_replies(struct conformance *test)
{
    call_one_at_a_time(gyre_kernel_queue(launch(test, "calls.gyre.c", "block_6")), 6, 25, 0);
}

static void lone_messages_to_an_actor(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "calls.gyre.c", "actor_255"));
    uint64_t request[255], reply[255];
    call_one_at_a_time(queue, 255, 255, 1);
    must(gyre_call(queue, request, sizeof request, reply, sizeof reply, NULL, soon()));
    require(reply[0] == CALLS + 1); /* each was handled once */
}

static void lone_messages_of_every_length(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "calls.gyre.c", "words_back"));
    call_words request, reply;
    gyre_completion completion;
    for (uint64_t i = 0; i < 2 * CALLS; i++) {
        uint64_t words[112];
        const uint32_t count = (uint32_t)(i * 37 % 112);
        fill(words, count, i);
        gyre_begin(&request);
        request.number = i % 50 == 17 ? CALL_FAILS : i % 50 == 33 ? CALL_IS_SILENT : i;
        must(gyre_put(&request, &request.words, words, count));
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
        if (request.number == CALL_FAILS) {
            require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == 8);
            require(!strcmp(completion.failure_text, "asked to fail"));
        } else if (request.number == CALL_IS_SILENT) {
            require(completion.outcome == GYRE_NOT_REPLIED);
        } else {
            require(completion.outcome == GYRE_REPLIED && reply.number == i + 1 &&
                    reply.words.count == count);
            if (count)
                check(gyre_items(uint64_t, &reply, reply.words), count, words, count, 0);
        }
    }
}

struct load {
    gyre_queue *queue;
    unsigned number;
    pthread_t thread;
};

static void nap(unsigned microseconds)
{
    const struct timespec duration = {0, (long)microseconds * 1000};
    nanosleep(&duration, NULL);
}

/* Now and then it waits, so that others are alone; now and then it does not wait for its reply. */
static void *call_from_a_thread(void *argument)
{
    struct load *load = argument;
    uint64_t request[25], reply[25];
    for (unsigned i = 0; i < CALLS; i++) {
        fill(request, 25, i * CALLERS + load->number);
        const uint64_t deadline = i % 40 == 39 ? GYRE_NO_WAIT : soon();
        gyre_status status =
            gyre_call(load->queue, request, sizeof request, reply, sizeof reply, NULL, deadline);
        require(status == GYRE_OK || (deadline == GYRE_NO_WAIT && status != GYRE_FAILED));
        if (status == GYRE_OK)
            check(reply, 25, request, 25, 0);
        if (i % 16 == load->number)
            nap(200);
    }
    return NULL;
}

static void callers_are_alone_by_turns(struct conformance *test)
{
    struct load loads[CALLERS];
    gyre_queue *queue = gyre_kernel_queue(launch(test, "calls.gyre.c", "lane_25"));
    for (unsigned i = 0; i < CALLERS; i++) {
        loads[i] = (struct load){.queue = queue, .number = i};
        require(pthread_create(&loads[i].thread, NULL, call_from_a_thread, &loads[i]) == 0);
    }
    for (unsigned i = 0; i < CALLERS; i++)
        pthread_join(loads[i].thread, NULL);
    call_one_at_a_time(queue, 25, 25, 0); /* nothing is left of those that were given up */
}

/* A stream, a pause and a lone message after the other: the device finds either. */
static void streams_and_lone_messages_take_turns(struct conformance *test)
{
    enum { BATCH = 100, ROUNDS = 25 };
    gyre_queue *queue = gyre_kernel_queue(launch(test, "calls.gyre.c", "lane_25"));
    static call_25 requests[BATCH], replies[BATCH];
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t sent = 0, moved, received = 0;
        for (unsigned i = 0; i < BATCH; i++)
            fill(requests[i].w, 25, round * BATCH + i);
        for (; sent < BATCH; sent += moved)
            must(gyre_send_batch(queue, &requests[sent], sizeof *requests, BATCH - sent, &moved, soon()));
        for (; received < BATCH; received += moved)
            must(gyre_receive_batch(queue, &replies[received], sizeof *replies, BATCH - received, NULL,
                                    &moved, soon()));
        for (unsigned i = 0; i < BATCH; i++)
            check(replies[i].w, 25, requests[i].w, 25, 0);
        for (unsigned i = 0; i < 10; i++) {
            uint64_t reply[25];
            exchange(queue, i % 3, requests[i].w, sizeof *requests, reply, sizeof reply);
            check(reply, 25, requests[i].w, 25, 0);
        }
        nap(round % 5 * 1000);
    }
}

static void lone_messages_across_pauses(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "calls.gyre.c", "block_6");
    uint64_t request[6], reply[25];
    for (unsigned i = 0; i < 40; i++) {
        fill(request, 6, i);
        must(gyre_kernel_deactivate(kernel, soon()));
        must(gyre_send(gyre_kernel_queue(kernel), request, sizeof request, NULL, soon()));
        must(gyre_kernel_activate(kernel, soon()));
        must(gyre_receive(gyre_kernel_queue(kernel), reply, sizeof reply, NULL, soon()));
        check(reply, 25, request, 6, 0);
        must(
            gyre_call(gyre_kernel_queue(kernel), request, sizeof request, reply, sizeof reply, NULL, soon()));
        check(reply, 25, request, 6, 0);
    }
}

static void take_numbers(gyre_queue *queue, uint64_t first)
{
    call_6 reply;
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && completion.length == sizeof reply);
    for (uint64_t i = 0; i < 6; i++)
        require(reply.w[i] == first + i);
}

/* By every call, of either size, with a request and without one. Handled: 9 from `first` on, each `step` further. */
static void ask_without_a_word(gyre_queue *queue, uint64_t first, uint64_t step)
{
    const gyre_none nothing[3] = {{0}, {0}, {0}};
    const unsigned char two[2] = {0, 0};
    const gyre_header header = {0};
    call_6 reply;
    size_t sent = 0;
    for (size_t size = 0; size <= sizeof *nothing; size++) {
        must(gyre_call(queue, size ? nothing : NULL, size, &reply, sizeof reply, NULL, soon()));
        require(reply.w[0] == first && reply.w[5] == first + 5);
        first += step;
        must(gyre_send(queue, size ? NULL : nothing, size, NULL, soon()));
        take_numbers(queue, first);
        first += step;
        for (size_t left = 2; left > 0; left -= sent)
            must(gyre_send_batch(queue, size ? nothing : NULL, size, left, &sent, soon()));
        for (unsigned i = 0; i < 2; i++, first += step)
            take_numbers(queue, first);
    }
    must(gyre_send_with(queue, NULL, 0, &header, NULL, soon()));
    take_numbers(queue, first);
    require(gyre_send_batch(queue, nothing, 1, 0, &sent, soon()) == GYRE_OK && sent == 0);
    require(gyre_send(queue, two, sizeof two, NULL, soon()) == GYRE_INVALID);
    require_sentence("takes requests of 0 bytes, found a request of 2");
    require(gyre_call(queue, two, sizeof two, &reply, sizeof reply, NULL, soon()) == GYRE_INVALID);
}

/* One after the other: not every device has room for two. */
static void requests_may_be_nothing(struct conformance *test)
{
    static const char *const kernels[] = {"lane_none", "block_none", "actor_none"};
    for (uint64_t i = 0; i < 3; i++) {
        gyre_kernel *kernel = launch(test, "calls.gyre.c", kernels[i]);
        ask_without_a_word(gyre_kernel_queue(kernel), i < 2 ? 7 : 1, i == 2);
        must(gyre_kernel_terminate(kernel, soon(), NULL));
        gyre_kernel_release(kernel);
    }
}

const struct conformance_case call_cases[] = {
    {"lone_messages_of_200_bytes", lone_messages_of_200_bytes},
    {"lone_messages_of_2056_bytes", lone_messages_of_2056_bytes},
    {"lone_messages_of_2048_bytes_to_a_block", lone_messages_of_2048_bytes_to_a_block},
    {"lone_messages_with_larger_replies", lone_messages_with_larger_replies},
    {"lone_messages_to_an_actor", lone_messages_to_an_actor},
    {"lone_messages_of_every_length", lone_messages_of_every_length},
    {"callers_are_alone_by_turns", callers_are_alone_by_turns},
    {"streams_and_lone_messages_take_turns", streams_and_lone_messages_take_turns},
    {"lone_messages_across_pauses", lone_messages_across_pauses},
    {"requests_may_be_nothing", requests_may_be_nothing},
    {NULL, NULL},
};
