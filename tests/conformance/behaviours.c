/* SPDX-License-Identifier: Apache-2.0 */
/* What queues may do with messages besides carrying them: let them expire, and keep those that died. */
#include <string.h>

#include <gyre/ring_layout.h>

#include "conformance.h"

static void require_letter(gyre_queue *queue, uint64_t word, uint64_t id)
{
    gyre_dead_letter dead = {.size = sizeof dead};
    words_1 request;
    must(gyre_dead_letter_take(queue, &dead, &request, sizeof request, GYRE_NO_WAIT));
    require(dead.code == GYRE_FAILURE_EXPIRED && dead.length == sizeof request && request.w[0] == word);
    require(dead.header.id == id && dead.index == id - 1);
    require(dead.header.deadline_ns != 0 && dead.header.deadline_ns <= dead.buried_ns);
    require(strstr(dead.reason, "deadline") != NULL);
}

static void late_messages_become_dead_letters(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.ttl_ms=30", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = launch_in(runtime, "words.gyre.c", "words_of_1");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const gyre_header patient = {.deadline_ns = gyre_in_ms(3600000)};
    uint64_t word;
    must(gyre_kernel_deactivate(kernel, soon()));
    for (uint64_t i = 0; i < 4; i++)
        send_word(queue, 100 + i, i == 2 ? &patient : NULL);
    sleep_ms(250);
    must(gyre_kernel_activate(kernel, soon()));
    for (uint64_t i = 0; i < 4; i++) {
        const gyre_completion completion = receive_word(queue, &word);
        require(completion.index == i);
        if (i == 2)
            require(completion.outcome == GYRE_REPLIED && word == 102 * 3);
        else
            require_expired(&completion);
    }
    require_letter(queue, 100, 1);
    require_letter(queue, 101, 2);
    require_letter(queue, 103, 4);
    gyre_dead_letter dead = {.size = sizeof dead};
    require(gyre_dead_letter_take(queue, &dead, NULL, 0, GYRE_NO_WAIT) == GYRE_AGAIN);
    require(gyre_dead_letter_take(queue, &dead, NULL, 0, gyre_in_ms(10)) == GYRE_TIMEOUT);
    require_dead(queue, 3, 0);
    send_word(queue, 7, &patient);
    require(receive_word(queue, &word).outcome == GYRE_REPLIED && word == 21);
    gyre_close(runtime);
}

static void senders_give_messages_deadlines_of_their_own(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.header=deadline", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = launch_in(runtime, "words.gyre.c", "words_of_1");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const words_1 request = {{1}};
    gyre_header header = {.deadline_ns = gyre_now_ns() - 1};
    uint64_t word;
    require(gyre_send_with(queue, &request, sizeof request, &header, NULL, soon()) == GYRE_TIMEOUT);
    require_sentence("before the message was sent");
    must(gyre_kernel_deactivate(kernel, soon()));
    header.deadline_ns = gyre_in_ms(3600000);
    send_word(queue, 1, &header); /* the attendant sleeps long, and is woken for the next one */
    header.deadline_ns = gyre_in_ms(20);
    send_word(queue, 2, &header);
    sleep_ms(200);
    must(gyre_kernel_activate(kernel, soon()));
    gyre_completion completion = receive_word(queue, &word);
    require(completion.outcome == GYRE_REPLIED && word == 3);
    completion = receive_word(queue, &word);
    require_expired(&completion);
    gyre_close(runtime);
}

static void expired_calls_and_views_say_so(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.ttl_ms=20", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = launch_in(runtime, "words.gyre.c", "words_of_1");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    gyre_view views[2];
    size_t found;
    uint64_t word;
    must(gyre_kernel_deactivate(kernel, soon()));
    send_word(queue, 1, NULL);
    send_word(queue, 2, NULL);
    send_word(queue, 3, NULL);
    sleep_ms(200);
    must(gyre_kernel_activate(kernel, soon()));
    must(gyre_peek(queue, views, 2, &found, soon()));
    require(found > 0 && views[0].outcome == GYRE_HANDLER_FAILED);
    require(((const gyre_failure *)views[0].reply)->code == GYRE_FAILURE_EXPIRED);
    must(gyre_release_views(queue, 0)); /* nothing was taken: no letter */
    require_dead(queue, 0, 0);
    must(gyre_peek(queue, views, 1, &found, soon()));
    must(gyre_release_views(queue, found));
    require_dead(queue, 1, 0);
    words_1 reply;
    require(gyre_receive(queue, &reply, sizeof reply, NULL, soon()) == GYRE_FAILED);
    require_sentence("-11");
    const gyre_completion completion = receive_word(queue, &word);
    require_expired(&completion);
    require_dead(queue, 3, 0);
    gyre_close(runtime);
}

static void the_oldest_dead_letter_leaves_and_is_counted(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.ttl_ms=20", "queue.default.dead_letters=2",
                                           "queue.none.ttl_ms=20", "queue.none.dead_letters=0", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = launch_in(runtime, "words.gyre.c", "words_of_1");
    gyre_queue *queue = gyre_kernel_queue(kernel), *none = NULL;
    gyre_dead_letter dead = {.size = sizeof dead};
    uint64_t word;
    must(gyre_queue_open(kernel, &(gyre_queue_desc){.size = sizeof(gyre_queue_desc), .name = "none"}, &none));
    must(gyre_kernel_deactivate(kernel, soon()));
    for (uint64_t i = 0; i < 5; i++)
        send_word(queue, i, NULL);
    send_word(none, 9, NULL);
    sleep_ms(200);
    must(gyre_kernel_activate(kernel, soon()));
    for (uint64_t i = 0; i < 5; i++)
        receive_word(queue, &word);
    require_dead(queue, 5, 3);
    require(gyre_dead_letter_take(queue, &dead, NULL, 0, GYRE_NO_WAIT) == GYRE_INVALID);
    require_sentence("8 bytes");
    require_letter(queue, 3, 4);
    require_letter(queue, 4, 5);
    const gyre_completion completion = receive_word(none, &word);
    require_expired(&completion);
    require(gyre_dead_letter_take(none, &dead, NULL, 0, GYRE_NO_WAIT) == GYRE_INVALID);
    require_sentence("keeps no dead letters");
    gyre_close(runtime);
}

static void a_message_of_a_known_id_is_not_sent_again(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.dedup=3", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "words.gyre.c", "words_of_1"));
    const words_1 request = {{5}};
    gyre_header header = {.id = 1000};
    uint64_t word;
    for (header.id = 1000; header.id < 1003; header.id++)
        send_word(queue, header.id, &header);
    header.id = 1000;
    require(gyre_send_with(queue, &request, sizeof request, &header, NULL, soon()) == GYRE_DROPPED);
    require_sentence("id 1000 already");
    words_1 reply;
    require(gyre_call_with(queue, &request, sizeof request, &header, &reply, sizeof reply, NULL, NULL,
                           soon()) == GYRE_DROPPED);
    header.id = 1003;
    send_word(queue, 1003, &header); /* of four ids the window forgets the first */
    header.id = 1000;
    send_word(queue, 1000, &header);
    for (int i = 0; i < 5; i++)
        send_word(queue, 7, NULL); /* no id of their own: never duplicates, and none is forgotten for them */
    header.id = 1003;
    require(gyre_send_with(queue, &request, sizeof request, &header, NULL, soon()) == GYRE_DROPPED);
    for (int i = 0; i < 10; i++)
        receive_word(queue, &word);
    require(stats_of(queue).duplicates == 3 && stats_of(queue).sent == 10);
    gyre_close(runtime);
}

static void replies_are_received_by_correlation(struct conformance *test)
{
    enum { COUNT = 20 };
    static const char *const settings[] = {"queue.default.header=correlation", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "words.gyre.c", "words_of_1"));
    gyre_completion completion;
    gyre_message_info info = {.size = sizeof info};
    words_1 reply;
    uint64_t word;
    for (uint64_t i = 0; i < COUNT; i++)
        send_word(queue, i, &(gyre_header){.correlation = 500 + i});
    for (uint64_t i = COUNT; i-- > 5;) {
        must(gyre_receive_for(queue, 500 + i, &reply, sizeof reply, &completion, &info, soon()));
        require(reply.w[0] == 3 * i && completion.index == i && info.header.correlation == 500 + i);
    }
    require(gyre_receive_for(queue, 510, &reply, sizeof reply, NULL, NULL, soon()) == GYRE_NOT_FOUND);
    require_sentence("correlation 510");
    for (uint64_t i = 0; i < 5; i++) { /* the rest comes in order */
        completion = receive_word(queue, &word);
        require(completion.index == i && word == 3 * i);
    }
    require(gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
    require(stats_of(queue).received == COUNT);
    gyre_queue *plain = NULL;
    must(gyre_queue_open(gyre_kernel_find(runtime, "words_of_1"), NULL, &plain));
    gyre_close(runtime);
}

static void order_any_gives_what_is_there(struct conformance *test)
{
    enum { COUNT = 500 };
    static const char *const settings[] = {"queue.default.order=any", "queue.default.capacity=64", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "words.gyre.c", "words_of_1"));
    static bool seen[COUNT];
    uint64_t sent = 0, received = 0;
    while (received < COUNT) {
        words_1 request = {{sent}}, replies[8];
        gyre_completion completions[8];
        size_t taken;
        for (; sent < COUNT && gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_OK;
             request.w[0] = ++sent)
            ;
        must(gyre_receive_batch(queue, replies, sizeof replies[0], 8, completions, &taken, soon()));
        for (size_t i = 0; i < taken; i++) {
            const uint64_t index = completions[i].index;
            require(index < COUNT && !seen[index] && replies[i].w[0] == 3 * index);
            seen[index] = true;
        }
        received += taken;
    }
    require(call_word(queue, 3) == 9);
    gyre_close(runtime);
}

/* Of a message that is built in place, its sender keeps the address: it can be damaged behind the seal. */
static void send_damaged(gyre_queue *queue, gyre_kernel *kernel, uint64_t word)
{
    void *place;
    size_t stride, count = 1;
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_reserve(queue, &place, &stride, &count, soon()));
    ((words_1 *)place)->w[0] = word;
    must(gyre_commit(queue, count));
    ((words_1 *)place)->w[0] ^= 1;
    must(gyre_kernel_activate(kernel, soon()));
}

static void damaged_messages_are_failed(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.seal=crc32c", "queue.default.header=64", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = launch_in(runtime, "words.gyre.c", "words_of_1");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    gyre_completion completion;
    gyre_dead_letter dead = {.size = sizeof dead};
    words_1 request;
    gyre_view view;
    size_t found;
    uint64_t word;
    for (uint64_t i = 0; i < 300; i++)
        require(call_word(queue, i) == 3 * i);
    send_damaged(queue, kernel, 40);
    completion = receive_word(queue, &word);
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == GYRE_FAILURE_SEAL);
    require(strstr(completion.failure_text, "of the request") != NULL);
    must(gyre_dead_letter_take(queue, &dead, &request, sizeof request, GYRE_NO_WAIT));
    require(dead.code == GYRE_FAILURE_SEAL && request.w[0] == 41);
    send_word(queue, 5, NULL); /* now a reply, damaged before it is taken */
    must(gyre_peek(queue, &view, 1, &found, soon()));
    require(view.outcome == GYRE_REPLIED && ((const words_1 *)view.reply)->w[0] == 15);
    memset((void *)(uintptr_t)view.reply, 77, sizeof(words_1));
    must(gyre_release_views(queue, 0));
    completion = receive_word(queue, &word);
    require(completion.failure_code == GYRE_FAILURE_SEAL);
    require(strstr(completion.failure_text, "of the reply") != NULL);
    require_dead(queue, 2, 0);
    require(call_word(queue, 3) == 9);
    gyre_close(runtime);
}

static void large_messages_are_sealed_in_streams(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.seal=crc32c", "queue.default.capacity=64", NULL};
    static words_128 requests[40], replies[40];
    gyre_runtime *runtime = open_with(test, settings);
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "words.gyre.c", "words_of_128"));
    for (uint64_t round = 0; round < 20; round++) {
        size_t sent = 0, received = 0;
        for (size_t i = 0; i < 40; i++)
            for (size_t w = 0; w < 128; w++)
                requests[i].w[w] = round + i * w;
        must(gyre_send_batch(queue, requests, sizeof requests[0], 40, &sent, soon()));
        for (size_t done = 0; done < sent; done += received)
            must(gyre_receive_batch(queue, replies + done, sizeof replies[0], 40 - done, NULL, &received,
                                    soon()));
        for (size_t i = 0; i < sent; i++)
            require(replies[i].w[127] == (round + i * 127) * 3 + 127);
    }
    gyre_close(runtime);
}

const struct conformance_case behaviour_cases[] = {
    {"late_messages_become_dead_letters", late_messages_become_dead_letters},
    {"senders_give_messages_deadlines_of_their_own", senders_give_messages_deadlines_of_their_own},
    {"expired_calls_and_views_say_so", expired_calls_and_views_say_so},
    {"the_oldest_dead_letter_leaves_and_is_counted", the_oldest_dead_letter_leaves_and_is_counted},
    {"a_message_of_a_known_id_is_not_sent_again", a_message_of_a_known_id_is_not_sent_again},
    {"replies_are_received_by_correlation", replies_are_received_by_correlation},
    {"order_any_gives_what_is_there", order_any_gives_what_is_there},
    {"damaged_messages_are_failed", damaged_messages_are_failed},
    {"large_messages_are_sealed_in_streams", large_messages_are_sealed_in_streams},
    {NULL, NULL},
};
