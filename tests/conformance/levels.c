/* SPDX-License-Identifier: Apache-2.0 */
/* Queues with priorities: what goes first, what waits in front of the ring, and what becomes of it. */
#include "conformance.h"

/* A queue of which one message is in the ring, and the kernel does nothing yet. */
static gyre_queue *open_levels(gyre_runtime *runtime, gyre_kernel **kernel)
{
    *kernel = launch_in(runtime, "words.gyre.c", "words_of_1");
    must(gyre_kernel_deactivate(*kernel, soon()));
    send_word(gyre_kernel_queue(*kernel), 0, NULL);
    return gyre_kernel_queue(*kernel);
}

static void require_order(gyre_queue *queue, const uint64_t *indices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        const gyre_completion completion = receive_word(queue, &word);
        require(completion.index == indices[i] && word == 3 * indices[i]);
    }
}

static void levels_are_served_in_order(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.levels=3", "queue.default.window=1",
                                           "queue.default.age_ms=3600000", NULL};
    static const uint16_t priorities[] = {0, 0, 2, 1, 2, 0, 9, 1};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel;
    gyre_queue *queue = open_levels(runtime, &kernel);
    for (uint64_t i = 1; i < 8; i++) {
        const words_1 request = {{i}};
        uint64_t index;
        const gyre_header header = {.priority = priorities[i]};
        must(gyre_send_with(queue, &request, sizeof request, &header, &index, soon()));
        require(index == i);
    }
    require(stats_of(queue).waiting == 7 && stats_of(queue).sent == 8);
    must(gyre_kernel_activate(kernel, soon()));
    require_order(queue, (const uint64_t[]){0, 2, 4, 6, 3, 7, 1, 5}, 8);
    require(call_word(queue, 4) == 12 && stats_of(queue).waiting == 0);
    void *requests;
    size_t stride, count = 1;
    require(gyre_reserve(queue, &requests, &stride, &count, soon()) == GYRE_INVALID);
    require_sentence("has levels");
    /* an index is a number of the send, and would be taken for another one's place in the ring */
    must(gyre_await(queue, 8, GYRE_ACCEPTED, soon()));
    require(gyre_await(queue, 8, GYRE_PROCESSED, soon()) == GYRE_INVALID);
    require_sentence("has levels");
    require(gyre_await(queue, 9, GYRE_ACCEPTED, soon()) == GYRE_INVALID);
    gyre_close(runtime);
}

static void a_full_line_is_told_with_what_waits_there(struct conformance *test)
{
    static const char *const policies[] = {"queue.default.policy=reject", "queue.default.policy=block"};
    for (size_t i = 0; i < 2; i++) {
        const char *const settings[] = {"queue.default.levels=2", "queue.default.window=1",
                                        "queue.default.capacity=4", policies[i], NULL};
        gyre_runtime *runtime = open_with(test, settings);
        gyre_kernel *kernel;
        gyre_queue *queue = open_levels(runtime, &kernel);
        const words_1 request = {{5}};
        for (uint64_t word = 1; word < 5; word++)
            send_word(queue, word, NULL);
        require(gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
        require_sentence(
            "is full: 4 messages wait in front of its ring; receive replies, or use a larger capacity");
        if (i == 1)
            require(gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(5)) == GYRE_TIMEOUT);
        require_sentence("is full: 4 messages wait in front of its ring");
        must(gyre_kernel_activate(kernel, soon()));
        require_order(queue, (const uint64_t[]){0, 1, 2, 3, 4}, 5);
        gyre_close(runtime);
    }
}

static void a_message_that_waited_long_rises(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.levels=4", "queue.default.window=1",
                                           "queue.default.age_ms=20", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel;
    gyre_queue *queue = open_levels(runtime, &kernel);
    send_word(queue, 1, &(gyre_header){.priority = 0});
    send_word(queue, 2, &(gyre_header){.priority = 1});
    sleep_ms(150); /* both are as high as can be now */
    send_word(queue, 3, &(gyre_header){.priority = 3});
    must(gyre_kernel_activate(kernel, soon()));
    require_order(queue, (const uint64_t[]){0, 1, 2, 3}, 4);
    gyre_close(runtime);
}

static void levels_hold_many_messages_and_calls(struct conformance *test)
{
    enum { COUNT = 2000 };
    static const char *const settings[] = {"queue.default.levels=5", "queue.default.window=16",
                                           "queue.default.capacity=128", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "words.gyre.c", "words_of_1"));
    static bool seen[2 * COUNT];
    uint64_t sent = 0, received = 0, word;
    while (received < COUNT) {
        words_1 request = {{0}};
        uint64_t index = 0;
        while (sent < COUNT) {
            request.w[0] = sent;
            const gyre_header header = {.priority = (uint16_t)(sent % 5)};
            if (gyre_send_with(queue, &request, sizeof request, &header, &index, GYRE_NO_WAIT) != GYRE_OK)
                break;
            require(index == sent);
            sent++;
        }
        const gyre_completion completion = receive_word(queue, &word);
        require(completion.index < COUNT && !seen[completion.index] && word == 3 * completion.index);
        seen[completion.index] = true;
        received++;
    }
    for (uint64_t i = 0; i < 100; i++)
        require(call_word(queue, i) == 3 * i);
    gyre_close(runtime);
}

static void what_waits_at_the_end_is_told(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.levels=2", "queue.default.window=2",
                                           "queue.default.capacity=4", "queue.default.ttl_ms=20", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel;
    gyre_queue *queue = open_levels(runtime, &kernel);
    const words_1 request = {{1}};
    uint64_t word, unhandled = 0;
    size_t sent = 1;
    while (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_OK)
        sent++;
    require(sent == 6); /* two in the ring, four before it */
    sleep_ms(100);
    must(gyre_kernel_activate(kernel, soon()));
    for (size_t i = 0; i < sent; i++) { /* also those that expired in front of the ring */
        const gyre_completion completion = receive_word(queue, &word);
        require_expired(&completion);
    }
    require_dead(queue, 6, 0);
    must(gyre_kernel_deactivate(kernel, soon()));
    const gyre_header patient = {.deadline_ns = gyre_in_ms(3600000)};
    for (size_t i = 0; i < sent; i++)
        send_word(queue, 1, &patient);
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, &unhandled));
    require(unhandled == sent);
    for (size_t i = 0; i < sent; i++)
        require(receive_word(queue, &word).outcome == GYRE_WAS_UNHANDLED);
    must(gyre_kernel_relaunch(kernel));
    send_word(queue, 2, &patient); /* a launch may take longer than ttl_ms */
    require(receive_word(queue, &word).outcome == GYRE_REPLIED && word == 6);
    gyre_close(runtime);
}

/* However they are looked at. */
static void require_unhandled(gyre_queue *queue, size_t count)
{
    gyre_view view;
    size_t found;
    uint64_t word;
    for (size_t i = 0; i < count; i++) {
        must(gyre_peek(queue, &view, 1, &found, soon()));
        require(view.outcome == GYRE_WAS_UNHANDLED && view.length == 0);
        must(gyre_release_views(queue, 0));
        const gyre_completion completion = receive_word(queue, &word);
        require(completion.outcome == GYRE_WAS_UNHANDLED && completion.index == view.index);
    }
}

static void require_waiting(gyre_kernel *kernel, uint64_t waiting, uint64_t queued)
{
    require(stats_of(gyre_kernel_queue(kernel)).waiting == waiting && info_of(kernel).queued == queued);
}

static void what_ended_before_the_ring_stays_unhandled(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.levels=2", "queue.default.window=2",
                                           "queue.default.capacity=4", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel;
    gyre_queue *queue = open_levels(runtime, &kernel);
    uint64_t word, unhandled = 0;
    for (uint64_t i = 1; i < 6; i++)
        send_word(queue, i, NULL);
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, &unhandled));
    require(unhandled == 6);
    require_waiting(kernel, 2, 0); /* their completions find no room */
    must(gyre_kernel_relaunch(kernel));
    send_word(queue, 6, &(gyre_header){.priority = 1}); /* it goes before these two */
    require_waiting(kernel, 3, 1);
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, &unhandled));
    require(unhandled == 1); /* none is counted twice */
    must(gyre_kernel_relaunch(kernel));
    send_word(queue, 7, NULL);
    require_unhandled(queue, 7);
    require(receive_word(queue, &word).outcome == GYRE_REPLIED && word == 21);
    const gyre_queue_stats stats = stats_of(queue);
    require(stats.sent == 8 && stats.received == 8);
    require_waiting(kernel, 0, 0);
    gyre_close(runtime);
}

const struct conformance_case level_cases[] = {
    {"levels_are_served_in_order", levels_are_served_in_order},
    {"a_full_line_is_told_with_what_waits_there", a_full_line_is_told_with_what_waits_there},
    {"a_message_that_waited_long_rises", a_message_that_waited_long_rises},
    {"levels_hold_many_messages_and_calls", levels_hold_many_messages_and_calls},
    {"what_waits_at_the_end_is_told", what_waits_at_the_end_is_told},
    {"what_ended_before_the_ring_stays_unhandled", what_ended_before_the_ring_stays_unhandled},
    {NULL, NULL},
};
