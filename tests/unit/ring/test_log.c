/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a queue: when whoever takes checkpoints is asked for one, and what is handled again after a crash. */
#include <string.h>

#include "core/stages/log.h"
#include "core/queue/resume.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/queue/progress.h"
#include "core/ring/ring.h"
#include "ring_device.h"
#include "tests/sanitizers.h"
#include "unit/unit.h"
#include "../../patience.h"

enum { ENTRIES = 8, ASK_AFTER = 4 };

struct taker {
    struct ring_device device;
    gyre_queue *queue;
    int asked;
};

static void count(void *context)
{
    ((struct taker *)context)->asked++;
}

static void begin(struct taker *taker)
{
    taker->asked = 0;
    ring_device_start(&taker->device, ring_options(), 1);
    taker->queue = taker->device.queue;
    ck_assert_int_eq(gyre_queue_log_create(taker->queue, gyre_queue_log_bytes(taker->queue, ENTRIES)),
                     GYRE_OK);
    gyre_log_of(taker->queue)->ask = count;
    gyre_log_of(taker->queue)->ask_context = taker;
    gyre_queue_log_restart(taker->queue, ASK_AFTER);
}

static void end(struct taker *taker)
{
    ring_device_stop(&taker->device);
    gyre_queue_log_destroy(taker->queue);
    ring_device_finish(&taker->device);
}

static void exchange(struct taker *taker, int count_of_messages)
{
    const uint64_t deadline = gyre_now_ns() + patiently(UINT64_C(10000000000));
    for (int i = 0; i < count_of_messages; i++) {
        uint64_t message = 1;
        ck_assert_int_eq(gyre_send(taker->queue, &message, sizeof message, NULL, deadline), GYRE_OK);
        ck_assert_int_eq(gyre_receive(taker->queue, &message, sizeof message, NULL, deadline), GYRE_OK);
        ck_assert_uint_eq(message, 2);
    }
}

static void take_checkpoint(struct taker *taker)
{
    gyre_queue_log_look(taker->queue);
    gyre_queue_log_commit(taker->queue, ASK_AFTER);
}

START_TEST(a_checkpoint_is_asked_for_once)
{
    struct taker taker;
    begin(&taker);
    for (int round = 1; round <= 20; round++) {
        exchange(&taker, ASK_AFTER - 1);
        ck_assert_int_eq(taker.asked, round - 1);
        ck_assert(!gyre_queue_log_asks(taker.queue));
        exchange(&taker, 3);
        ck_assert_int_eq(taker.asked, round);
        ck_assert(gyre_queue_log_asks(taker.queue));
        exchange(&taker, 1); /* a look that said "soon" does not make senders ask at each message */
        ck_assert_int_eq(taker.asked, round);
        take_checkpoint(&taker);
    }
    end(&taker);
}
END_TEST

/* A sender that has read `ask_at` just before a checkpoint asks just after it: nothing is due, and it was said. */
START_TEST(who_was_asked_too_early_is_asked_again)
{
    struct taker taker;
    begin(&taker);
    exchange(&taker, ASK_AFTER);
    take_checkpoint(&taker);
    gyre_log_of(taker.queue)->asked = 1;
    ck_assert(!gyre_queue_log_asks(taker.queue));
    exchange(&taker, ASK_AFTER);
    ck_assert_int_eq(taker.asked, 2);
    end(&taker);
}
END_TEST

START_TEST(a_full_log_holds_its_sender_up_until_the_checkpoint)
{
    struct taker taker;
    begin(&taker);
    exchange(&taker, 8 + ENTRIES);
    uint64_t message = 1;
    ck_assert_int_eq(gyre_send(taker.queue, &message, sizeof message, NULL, GYRE_NO_WAIT), GYRE_AGAIN);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "waits for a checkpoint"));
    ck_assert(gyre_queue_log_asks(taker.queue));
    take_checkpoint(&taker);
    exchange(&taker, 8 + ENTRIES);
    end(&taker);
}
END_TEST

/* ---- a journal that is late ---- */

/* The queue holds as many messages as it has slots, and the journal knows that none was received. */
static void fill_with_journal(struct taker *taker, gyre_full_policy policy)
{
    struct gyre_queue_options options = ring_options();
    options.policy = policy;
    ring_device_start(&taker->device, options, 1);
    taker->queue = taker->device.queue;
    ck_assert_int_eq(gyre_queue_log_create(taker->queue, 0), GYRE_OK);
    gyre_queue_log_set_journal_limit(taker->queue, options.capacity);
    for (uint64_t i = 0; i < options.capacity; i++)
        ring_device_send(&taker->device, i);
}

START_TEST(a_full_queue_with_a_journal_does_what_its_policy_says)
{
    struct taker taker;
    const uint64_t message = 1;
    fill_with_journal(&taker, GYRE_FULL_REJECT);
    ck_assert_int_eq(gyre_send(taker.queue, &message, sizeof message, NULL, GYRE_FOREVER), GYRE_AGAIN);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "is full: 8 messages are under way"));
    end(&taker);
    fill_with_journal(&taker, GYRE_FULL_DROP_NEWEST);
    ck_assert_int_eq(gyre_send(taker.queue, &message, sizeof message, NULL, GYRE_FOREVER), GYRE_DROPPED);
    end(&taker);
    fill_with_journal(&taker, GYRE_FULL_DROP_OLDEST);
    ck_assert_int_eq(gyre_send(taker.queue, &message, sizeof message, NULL, gyre_in_ms(50)), GYRE_TIMEOUT);
    ck_assert_uint_eq(ring_device_stats(&taker.device).dropped, 1);
    gyre_queue_log_set_journal_limit(taker.queue, gyre_received(taker.queue) + 8); /* it took note of that */
    ck_assert_int_eq(gyre_send(taker.queue, &message, sizeof message, NULL, gyre_in_ms(patiently(5000))),
                     GYRE_OK);
    end(&taker);
}
END_TEST

START_TEST(who_waits_for_the_journal_alone_is_told_that)
{
    struct taker taker;
    const uint64_t message = 1;
    fill_with_journal(&taker, GYRE_FULL_REJECT);
    ck_assert_uint_eq(ring_device_receive(&taker.device), 1);
    ck_assert_int_eq(gyre_send(taker.queue, &message, sizeof message, NULL, gyre_in_ms(20)), GYRE_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "waits for its journal to be written"));
    end(&taker);
}
END_TEST

/* ---- what is handled again ---- */

/* The completions of requests that were sent and that the device does not take up. */
static void complete(gyre_queue *queue, uint64_t index, uint32_t outcome, int32_t code)
{
    gyre_slot *slot = gyre_reply_slot(gyre_ring_of(queue), index);
    const gyre_failure failure = {.code = code};
    memcpy(slot + 1, &failure, sizeof failure.code);
    slot->info = outcome;
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE);
}

static void send_unanswered(struct taker *taker, uint64_t count)
{
    ring_device_stop(&taker->device);
    for (uint64_t i = 0; i < count; i++)
        ck_assert_int_eq(gyre_send(taker->queue, &i, sizeof i, NULL, GYRE_NO_WAIT), GYRE_OK);
}

static const struct {
    uint32_t outcome;
    int32_t code;
    bool handled;
} completions[] = {
    {GYRE_OUTCOME_REPLY, 0, true},
    {GYRE_OUTCOME_NO_REPLY, 0, true},
    {GYRE_OUTCOME_FAILED, 7, true}, /* by its handler */
    {GYRE_OUTCOME_DROPPED, 0, false},
    {GYRE_OUTCOME_UNHANDLED, 0, false},
    {GYRE_OUTCOME_FAILED, GYRE_FAILURE_CRASH, false},
    {GYRE_OUTCOME_FAILED, GYRE_FAILURE_EXPIRED, false},
    {GYRE_OUTCOME_FAILED, GYRE_FAILURE_SEAL, false},
    {GYRE_OUTCOME_FAILED, GYRE_FAILURE_LENGTH, false},
};

/* It is no part of the state, and would be after a crash. */
START_TEST(what_no_handler_saw_is_not_handled_again)
{
    struct taker taker;
    uint64_t payload = 0, index = 0;
    struct gyre_logged_request request = {.payload = &payload};
    begin(&taker);
    send_unanswered(&taker, 1);
    complete(taker.queue, 0, completions[_i].outcome, completions[_i].code);
    ck_assert_int_eq(gyre_queue_was_handled(taker.queue, 0), completions[_i].handled);
    ck_assert_int_eq(gyre_queue_log_next(taker.queue, &index, 1, &request), completions[_i].handled);
    end(&taker);
}
END_TEST

/* Several blocks answer out of turn: of requests 0 to 3 a checkpoint covers 1 and 2, and 0 is answered behind it. */
START_TEST(what_a_checkpoint_covers_out_of_turn_is_not_handled_again)
{
    struct taker taker;
    uint64_t payload = 0, index = 0;
    struct gyre_logged_request request = {.payload = &payload};
    begin(&taker);
    send_unanswered(&taker, 4);
    complete(taker.queue, 1, GYRE_OUTCOME_REPLY, 0);
    complete(taker.queue, 2, GYRE_OUTCOME_REPLY, 0);
    ck_assert(!gyre_queue_log_is_ahead(taker.queue));
    take_checkpoint(&taker);
    ck_assert(gyre_queue_log_is_ahead(taker.queue));
    complete(taker.queue, 0, GYRE_OUTCOME_REPLY, 0);
    ck_assert(!gyre_queue_log_is_ahead(taker.queue)); /* all marked ones are below the first unanswered now */
    complete(taker.queue, 3, GYRE_OUTCOME_REPLY, 0);
    ck_assert(gyre_queue_log_next(taker.queue, &index, 4, &request) && index == 0 && payload == 0);
    index++;
    ck_assert(gyre_queue_log_next(taker.queue, &index, 4, &request) && index == 3 && payload == 3);
    index++;
    ck_assert(!gyre_queue_log_next(taker.queue, &index, 4, &request));
    end(&taker);
}
END_TEST

/* It was opened while one was taken: nothing of it is in there, whatever an earlier look saw. */
START_TEST(a_checkpoint_that_did_not_look_at_a_queue_covers_nothing_of_it)
{
    struct taker taker;
    uint64_t payload = 0, index = 0;
    struct gyre_logged_request request = {.payload = &payload};
    begin(&taker);
    send_unanswered(&taker, 2);
    complete(taker.queue, 0, GYRE_OUTCOME_REPLY, 0);
    gyre_log_of(taker.queue)->coming.first = 2;
    gyre_queue_log_commit(taker.queue, ASK_AFTER);
    ck_assert(gyre_queue_log_next(taker.queue, &index, 2, &request) && index == 0);
    end(&taker);
}
END_TEST

/* Both words: what a device looks at differs between backends. Of an actor's, only what no handler saw. */
START_TEST(the_next_device_is_told_what_is_answered)
{
    struct taker taker;
    begin(&taker);
    send_unanswered(&taker, 4);
    complete(taker.queue, 1, GYRE_OUTCOME_REPLY, 0);
    complete(taker.queue, 3, GYRE_OUTCOME_DROPPED, 0);
    gyre_queue_mark_settled(taker.queue);
    ck_assert_uint_eq(gyre_request_slot(gyre_ring_of(taker.queue), 1)->info, 0);
    ck_assert_uint_eq(gyre_request_slot(gyre_ring_of(taker.queue), 1)->length, sizeof(uint64_t));
    gyre_queue_mark_answered(taker.queue);
    for (uint64_t i = 0; i < 4; i++) {
        const gyre_slot *slot = gyre_request_slot(gyre_ring_of(taker.queue), i);
        ck_assert_uint_eq(slot->info, i % 2 ? GYRE_REQUEST_ANSWERED : 0);
        ck_assert_uint_eq(slot->length, i % 2 ? GYRE_LENGTH_ANSWERED : sizeof(uint64_t));
    }
    end(&taker);
}
END_TEST

/* ---- reading beside a sender ---- */

enum { LONG_WORDS = 8000, LONG_COUNT = 2000 };

static void *send_long(void *argument)
{
    static uint64_t words[LONG_WORDS];
    gyre_queue *queue = argument;
    const uint64_t deadline = gyre_now_ns() + patiently(UINT64_C(50000000000));
    for (uint64_t i = 0; i < LONG_COUNT; i++) {
        for (size_t at = 0; at < LONG_WORDS; at++)
            words[at] = i;
        ck_assert_int_eq(gyre_send(queue, words, sizeof words, NULL, deadline), GYRE_OK);
        ck_assert_int_eq(gyre_receive(queue, words, sizeof words, NULL, deadline), GYRE_OK);
    }
    return NULL;
}

/* Its slot may be written anew at any moment; then it is in the log. Long ones, so that this happens in their midst. */
START_TEST(a_request_is_read_whole_while_its_slot_is_written_anew)
{
    static uint64_t words[LONG_WORDS];
    struct gyre_logged_request request = {.payload = words};
    struct gyre_queue_options options = ring_options();
    struct ring_device device;
    pthread_t sender;
    options.capacity = 2;
    ring_device_start(&device, options, LONG_WORDS);
    gyre_queue *queue = device.queue;
    ck_assert_int_eq(gyre_queue_log_create(queue, gyre_queue_log_bytes(queue, ENTRIES)), GYRE_OK);
    unit_start(&sender, send_long, queue);
    for (uint64_t next = 0; next < LONG_COUNT;) {
        const uint64_t first = gyre_log_of(queue)->base.first;
        next = gyre_queue_next_index(queue);
        for (uint64_t index = first; index < next; index++) {
            gyre_queue_log_read(queue, index, &request);
            for (size_t at = 0; at < LONG_WORDS; at++)
                ck_assert_uint_eq(words[at], index);
        }
        gyre_log_of(queue)->coming.first =
            gyre_received(queue); /* a look would need a device that stands still */
        gyre_log_of(queue)->looked = true;
        gyre_queue_log_commit(queue, 1); /* the sender goes on */
    }
    pthread_join(sender, NULL);
    ring_device_stop(&device);
    gyre_queue_log_destroy(queue);
    ring_device_finish(&device);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log");
    TCase *tcase = tcase_create("log");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_checkpoint_is_asked_for_once);
    tcase_add_test(tcase, who_was_asked_too_early_is_asked_again);
    tcase_add_test(tcase, a_full_log_holds_its_sender_up_until_the_checkpoint);
    tcase_add_test(tcase, a_full_queue_with_a_journal_does_what_its_policy_says);
    tcase_add_test(tcase, who_waits_for_the_journal_alone_is_told_that);
    tcase_add_loop_test(tcase, what_no_handler_saw_is_not_handled_again, 0,
                        (int)(sizeof completions / sizeof completions[0]));
    tcase_add_test(tcase, what_a_checkpoint_covers_out_of_turn_is_not_handled_again);
    tcase_add_test(tcase, a_checkpoint_that_did_not_look_at_a_queue_covers_nothing_of_it);
    tcase_add_test(tcase, the_next_device_is_told_what_is_answered);
    if (!UNDER_THREAD_SANITIZER) /* which cannot know that what was read while somebody wrote it is thrown away */
        tcase_add_test(tcase, a_request_is_read_whole_while_its_slot_is_written_anew);
    else
        (void)a_request_is_read_whole_while_its_slot_is_written_anew;
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
