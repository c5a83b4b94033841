/* SPDX-License-Identifier: Apache-2.0 */
/* Queues with priorities: messages are found wherever they are, in front of the ring or in it. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../patience.h"
#include "ring_device.h"
#include "test_ring.h"

#include "core/queue/end.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/ring/ring_message.h"

enum { ASKERS = 4, LASTS_MS = 3000 }; /* of what is tried again and again, on any machine */

static struct ring_device device;

static struct gyre_queue_options level_options(void)
{
    struct gyre_queue_options options = ring_options();
    options.levels = 2;
    options.header_size = 32; /* it holds a correlation */
    options.age_ns = 1000000;
    options.window = 4;
    return options;
}

/* Sends, and asks for the reply to this very message, which some other thread moves into the ring meanwhile. */
static void *ask(void *argument)
{
    const uint64_t base = (uint64_t)(uintptr_t)argument << 32, end_ns = gyre_in_ms(LASTS_MS);
    for (uint64_t i = 0; i == 0 || gyre_now_ns() < end_ns; i++) {
        const uint64_t request = base + i;
        const gyre_header header = {.correlation = request, .priority = (uint16_t)(i % 2)};
        uint64_t reply = 0;
        ck_assert_int_eq(
            gyre_send_with(device.queue, &request, 8, &header, NULL, gyre_in_ms(patiently(20000))), GYRE_OK);
        gyre_status status =
            gyre_receive_for(device.queue, request, &reply, 8, NULL, NULL, gyre_in_ms(patiently(20000)));
        ck_assert_msg(status == GYRE_OK, "message %llu: %s", (unsigned long long)i, gyre_error_text());
        ck_assert_uint_eq(reply, request + 1);
    }
    return NULL;
}

START_TEST(who_asks_for_a_reply_finds_it_while_its_message_moves)
{
    pthread_t askers[ASKERS];
    ring_device_start(&device, level_options(), 1);
    for (uintptr_t i = 0; i < ASKERS; i++)
        unit_start(&askers[i], ask, (void *)(i + 1));
    for (int i = 0; i < ASKERS; i++)
        pthread_join(askers[i], NULL);
    ring_device_finish(&device);
}
END_TEST

/* ---- replies that are not taken in their turn ---- */

static void send_number(uint64_t number)
{
    const gyre_header header = {.correlation = number};
    ck_assert_int_eq(gyre_send_with(device.queue, &number, 8, &header, NULL, gyre_in_ms(patiently(5000))),
                     GYRE_OK);
}

static gyre_status receive_number(uint64_t number, uint64_t deadline_ns)
{
    uint64_t reply = 0;
    gyre_status status = gyre_receive_for(device.queue, number, &reply, 8, NULL, NULL, deadline_ns);
    if (status == GYRE_OK)
        ck_assert_uint_eq(reply, number + 1);
    return status;
}

static uint64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A ring of two places, both of them taken by replies that nobody received, and message 3 in front of it. */
static void start_full(void)
{
    struct gyre_queue_options options = level_options();
    options.capacity = 2;
    ring_device_start(&device, options, 1);
    for (uint64_t number = 1; number <= 3; number++)
        send_number(number);
    while (!gyre_reply_ready(gyre_ring_of(device.queue), 1))
        usleep(100);
}

START_TEST(who_waits_for_a_message_before_a_full_ring_sleeps_until_its_deadline)
{
    const uint64_t waits_ms = 300;
    start_full();
    ck_assert_int_eq(receive_number(3, GYRE_NO_WAIT), GYRE_AGAIN);
    const uint64_t begun_ns = gyre_now_ns(), used_ns = processor_ns();
    ck_assert_int_eq(receive_number(3, gyre_in_ms(waits_ms)), GYRE_TIMEOUT);
    ck_assert_uint_ge(gyre_now_ns() - begun_ns, waits_ms * 1000000);
    ck_assert_uint_lt(processor_ns() - used_ns, waits_ms * 1000000 / 2);
    ck_assert_msg(strstr(gyre_error_text(), "keep") != NULL, "%s", gyre_error_text());
    ck_assert_int_eq(receive_number(2, gyre_in_ms(patiently(5000))),
                     GYRE_OK); /* it keeps its place until 1 is taken */
    ck_assert_int_eq(receive_number(3, gyre_in_ms(20)), GYRE_TIMEOUT);
    ck_assert_int_eq(receive_number(1, gyre_in_ms(patiently(5000))), GYRE_OK);
    ck_assert_int_eq(receive_number(3, gyre_in_ms(patiently(5000))), GYRE_OK);
    ck_assert_int_eq(receive_number(3, gyre_in_ms(patiently(5000))), GYRE_NOT_FOUND);
    ring_device_finish(&device);
}
END_TEST

static void *receive_third(void *argument)
{
    (void)argument;
    return (void *)(uintptr_t)receive_number(3, GYRE_FOREVER);
}

/* It passes through the ring between two looks of who waits for it, more often than not. */
START_TEST(who_waits_for_a_message_that_another_takes_is_told)
{
    for (int round = 0; round < 20; round++) {
        pthread_t waiter;
        void *result;
        uint64_t reply, taken = 0;
        start_full();
        unit_start(&waiter, receive_third, NULL);
        while (!__atomic_load_n(&gyre_ring_of(device.queue)->shared->host.waiting, __ATOMIC_ACQUIRE))
            usleep(100);
        while (taken < 3 && gyre_receive(device.queue, &reply, 8, NULL, gyre_in_ms(50)) == GYRE_OK)
            taken++;
        pthread_join(waiter, &result);
        ck_assert_int_eq((int)(uintptr_t)result, taken == 3 ? GYRE_NOT_FOUND : GYRE_OK);
        ring_device_finish(&device);
    }
}
END_TEST

static void *call_fourth(void *argument)
{
    const uint64_t number = 4;
    uint64_t reply;
    (void)argument;
    return (void *)(uintptr_t)gyre_call(device.queue, &number, 8, &reply, 8, NULL, GYRE_FOREVER);
}

START_TEST(who_waits_for_a_message_before_a_full_ring_leaves_with_its_queue)
{
    pthread_t caller, receiver;
    void *called, *received;
    start_full();
    unit_start(&caller, call_fourth, NULL);
    unit_start(&receiver, receive_third, NULL);
    while (gyre_queue_next_number(device.queue) < 4 ||
           __atomic_load_n(&device.queue->state.inside, __ATOMIC_ACQUIRE) < 2)
        usleep(100);
    ring_device_finish(&device);
    pthread_join(caller, &called);
    pthread_join(receiver, &received);
    ck_assert_int_eq((int)(uintptr_t)called, GYRE_CLOSED);
    ck_assert_int_eq((int)(uintptr_t)received, GYRE_CLOSED);
}
END_TEST

/* Its request stays in front of the ring, and is handled once there is room: the caller has to know that it was sent. */
START_TEST(who_gives_up_a_call_before_a_full_ring_knows_its_number)
{
    const uint64_t number = 4;
    uint64_t reply;
    gyre_completion completion = {0};
    start_full();
    const uint64_t expected = gyre_queue_next_number(device.queue);
    ck_assert_int_eq(gyre_call(device.queue, &number, 8, &reply, 8, &completion, gyre_in_ms(20)),
                     GYRE_TIMEOUT);
    ck_assert_uint_eq(gyre_queue_next_number(device.queue), expected + 1);
    ck_assert_uint_eq(completion.index, expected);
    ck_assert_int_eq(completion.outcome, 0);
    ring_device_finish(&device);
}
END_TEST

/* ---- batches ---- */

/* A batch that finds room for some of its requests ends there, as in a queue without levels: nothing is discarded for the rest,
 * which the caller sends again. */
static void batch_ends_where_room_ends(struct gyre_queue_options options, size_t room)
{
    uint64_t numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8}, reply = 0;
    size_t sent = 0;
    options.capacity = 2;
    options.policy = GYRE_FULL_DROP_NEWEST;
    ring_device_start(&device, options, 1);
    ring_device_hold(&device, true);
    ck_assert_int_eq(gyre_send_batch(device.queue, numbers, 8, 8, &sent, GYRE_NO_WAIT), GYRE_OK);
    ck_assert_uint_eq(sent, room);
    ck_assert_uint_eq(ring_device_stats(&device).dropped, 0);
    ck_assert_int_eq(gyre_send_batch(device.queue, numbers, 8, 8, &sent, GYRE_NO_WAIT), GYRE_DROPPED);
    ck_assert_uint_eq(sent, 0);
    ck_assert_uint_eq(ring_device_stats(&device).dropped, 1);
    ring_device_hold(&device, false);
    for (size_t i = 0; i < room; i++) {
        ck_assert_int_eq(gyre_receive(device.queue, &reply, 8, NULL, gyre_in_ms(patiently(5000))), GYRE_OK);
        ck_assert_uint_eq(reply, numbers[i] + 1);
    }
    ring_device_finish(&device);
}

START_TEST(a_batch_drops_nothing_while_some_of_it_finds_room)
{
    struct gyre_queue_options with_ids = ring_options();
    with_ids.header_size = 16;
    with_ids.dedup = 4;
    batch_ends_where_room_ends(with_ids, 2);
    batch_ends_where_room_ends(level_options(), 4); /* two in the ring, two in front of it */
}
END_TEST

/* ---- ends ---- */

static void *call_patiently(void *argument)
{
    const uint64_t number = 5;
    uint64_t reply = 0;
    (void)argument;
    gyre_status status = gyre_call(device.queue, &number, 8, &reply, 8, NULL, gyre_in_ms(patiently(20000)));
    ck_assert_msg(status == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(reply, number + 1);
    return NULL;
}

/* What moves into the ring while its caller looks for it there: a long look, past many replies that nobody took. */
START_TEST(calls_before_the_ring_are_answered_while_it_drains)
{
    enum { REPLIES = 900, CALLERS = 2 };
    struct gyre_queue_options options = level_options();
    options.capacity = 1024;
    options.window = 1;
    options.idle = GYRE_WAIT_YIELD;
    const uint64_t end_ns = gyre_in_ms(LASTS_MS);
    for (int round = 0; round == 0 || gyre_now_ns() < end_ns; round++) {
        pthread_t callers[CALLERS];
        ring_device_start(&device, options, 1);
        for (uint64_t number = 0; number < REPLIES; number++)
            send_number(number);
        while (gyre_queue_outstanding(device.queue))
            usleep(20);
        ring_device_hold(&device, true);
        for (int i = 0; i < CALLERS; i++)
            unit_start(&callers[i], call_patiently, NULL);
        while (gyre_queue_next_number(device.queue) < REPLIES + CALLERS)
            sched_yield();
        gyre_queue_close_sends(device.queue);
        ring_device_hold(&device, false);
        for (int i = 0; i < CALLERS; i++)
            pthread_join(callers[i], NULL);
        ring_device_finish(&device);
    }
}
END_TEST

#if GYRE_FAULT_POINTS
/* The thread is somewhere in its first round then: not begun, about to look for work, or asleep. */
START_TEST(a_queue_ends_while_its_thread_begins)
{
    enum { ROUNDS = 10, LOOK_MS = 20 };
    char plan[64];
    snprintf(plan, sizeof plan, "attendant.look=delay:%d@1+", LOOK_MS);
    ck_assert_int_eq(setenv("GYRE_FAULTS", plan, 1), 0);
    for (useconds_t round = 0; round < ROUNDS; round++) {
        ring_device_start(&device, level_options(), 1);
        usleep(round * LOOK_MS * 1000 / ROUNDS);
        ring_device_finish(&device);
    }
}
END_TEST
#endif

/* Without levels nothing is in front of the ring, and nothing that is not there is awaited. */
START_TEST(without_levels_what_found_no_room_is_nowhere)
{
    struct gyre_queue_options options = ring_options();
    options.header_size = 32;
    options.capacity = 2;
    ring_device_start(&device, options, 1);
    send_number(1);
    ring_device_hold(&device, true);
    send_number(2);
    const uint64_t used_ns = processor_ns();
    ck_assert_int_eq(receive_number(2, gyre_in_ms(200)), GYRE_TIMEOUT); /* while the reply to 1 is there */
    ck_assert_uint_lt(processor_ns() - used_ns, UINT64_C(100000000));
    ck_assert_int_eq(receive_number(3, gyre_in_ms(patiently(5000))), GYRE_NOT_FOUND);
    ring_device_finish(&device);
}
END_TEST

TCase *ring_level_cases(void)
{
    TCase *tcase = tcase_create("levels");
    tcase_set_timeout(tcase, 50);
    tcase_add_test(tcase, who_asks_for_a_reply_finds_it_while_its_message_moves);
    tcase_add_test(tcase, who_waits_for_a_message_before_a_full_ring_sleeps_until_its_deadline);
    tcase_add_test(tcase, who_waits_for_a_message_that_another_takes_is_told);
    tcase_add_test(tcase, who_waits_for_a_message_before_a_full_ring_leaves_with_its_queue);
    tcase_add_test(tcase, who_gives_up_a_call_before_a_full_ring_knows_its_number);
    tcase_add_test(tcase, a_batch_drops_nothing_while_some_of_it_finds_room);
    tcase_add_test(tcase, calls_before_the_ring_are_answered_while_it_drains);
#if GYRE_FAULT_POINTS
    tcase_add_test(tcase, a_queue_ends_while_its_thread_begins);
#endif
    tcase_add_test(tcase, without_levels_what_found_no_room_is_nowhere);
    return tcase;
}
