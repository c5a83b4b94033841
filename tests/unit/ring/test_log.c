/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a queue: when whoever takes checkpoints is asked for one. */
#include <string.h>

#include "core/ring/log.h"
#include "ring_device.h"
#include "unit/unit.h"

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
    taker->queue->log->ask = count;
    taker->queue->log->ask_context = taker;
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
    const uint64_t deadline = gyre_now_ns() + UINT64_C(10000000000);
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
    taker.queue->log->asked = 1;
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

int main(void)
{
    Suite *suite = suite_create("log");
    TCase *tcase = tcase_create("log");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_checkpoint_is_asked_for_once);
    tcase_add_test(tcase, who_was_asked_too_early_is_asked_again);
    tcase_add_test(tcase, a_full_log_holds_its_sender_up_until_the_checkpoint);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
