/* SPDX-License-Identifier: Apache-2.0 */
/* What queues may do with messages besides carrying them: let them expire, and keep those that died. */
#include <string.h>
#include <time.h>

#include <gyre/ring_layout.h>

#include "conformance.h"

static void sleep_ms(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void send_word(gyre_queue *queue, uint64_t word, const gyre_header *header)
{
    const words_1 request = {{word}};
    must(gyre_send_with(queue, &request, sizeof request, header, NULL, soon()));
}

static gyre_completion receive_word(gyre_queue *queue, uint64_t *word)
{
    gyre_completion completion;
    words_1 reply = {{0}};
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    *word = reply.w[0];
    return completion;
}

static void require_expired(const gyre_completion *completion)
{
    require(completion->outcome == GYRE_HANDLER_FAILED && completion->failure_code == GYRE_FAILURE_EXPIRED);
    require(strstr(completion->failure_text, "deadline") != NULL);
}

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

static gyre_queue_stats require_dead(gyre_queue *queue, uint64_t dead, uint64_t lost)
{
    gyre_queue_stats stats = stats_of(queue);
    require(stats.dead_letters == dead && stats.dead_letters_lost == lost);
    return stats;
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
    require_sentence("before it was sent");
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

const struct conformance_case behaviour_cases[] = {
    {"late_messages_become_dead_letters", late_messages_become_dead_letters},
    {"senders_give_messages_deadlines_of_their_own", senders_give_messages_deadlines_of_their_own},
    {"expired_calls_and_views_say_so", expired_calls_and_views_say_so},
    {"the_oldest_dead_letter_leaves_and_is_counted", the_oldest_dead_letter_leaves_and_is_counted},
    {NULL, NULL},
};
