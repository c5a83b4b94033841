/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads on one queue: nothing lost, nothing twice, every caller its own reply, and ends that wake
 * sleepers. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/queue/lent.h"
#include "core/queue/resume.h"
#include "core/queue/end.h"
#include "core/queue/queue.h"
#include "core/queue/side.h"
#include "core/queue/state.h"
#include "core/ring/ring.h"
#include "ring_device.h"
#include "test_ring.h"
#include "../../patience.h"

enum { PRODUCERS = 3, CONSUMERS = 2, EACH = 20000, CALLERS = 3, CALLS = 5000 };

static struct ring_device device;
static uint32_t taken;                /* replies received so far */
static uint8_t seen[PRODUCERS][EACH]; /* how often each was received */

static void *produce(void *argument)
{
    uint64_t producer = (uint64_t)(uintptr_t)argument;
    for (uint64_t i = 0; i < EACH; i++) {
        uint64_t request = producer << 32 | i;
        ck_assert_int_eq(gyre_send(device.queue, &request, 8, NULL, gyre_in_ms(patiently(20000))), GYRE_OK);
    }
    return NULL;
}

static void *produce_in_place(void *argument)
{
    const uint64_t producer = (uint64_t)(uintptr_t)argument;
    for (uint64_t i = 0; i < EACH;) {
        void *requests;
        size_t stride, count = EACH - i < 3 ? EACH - i : 3;
        ck_assert_int_eq(gyre_reserve(device.queue, &requests, &stride, &count, gyre_in_ms(patiently(20000))),
                         GYRE_OK);
        for (size_t j = 0; j < count; j++)
            *(uint64_t *)(void *)((unsigned char *)requests + j * stride) = producer << 32 | i++;
        ck_assert_int_eq(gyre_commit(device.queue, count), GYRE_OK);
    }
    return NULL;
}

static void note_reply(uint64_t reply)
{
    reply -= 1;
    __atomic_fetch_add(&seen[reply >> 32][reply & 0xffffffff], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
}

static void *consume(void *argument)
{
    (void)argument;
    while (__atomic_load_n(&taken, __ATOMIC_RELAXED) < PRODUCERS * EACH) {
        uint64_t reply;
        gyre_status status = gyre_receive(device.queue, &reply, 8, NULL, gyre_in_ms(50));
        if (status == GYRE_TIMEOUT)
            continue;
        ck_assert_int_eq(status, GYRE_OK);
        note_reply(reply);
    }
    return NULL;
}

static void *consume_in_place(void *argument)
{
    (void)argument;
    while (__atomic_load_n(&taken, __ATOMIC_RELAXED) < PRODUCERS * EACH) {
        gyre_view views[3];
        size_t found;
        gyre_status status = gyre_peek(device.queue, views, 3, &found, gyre_in_ms(50));
        if (status == GYRE_TIMEOUT)
            continue;
        ck_assert_int_eq(status, GYRE_OK);
        for (size_t i = 0; i < found; i++)
            note_reply(*(const uint64_t *)views[i].reply);
        ck_assert_int_eq(gyre_release_views(device.queue, found), GYRE_OK);
    }
    return NULL;
}

/* `in_place`: some of either side build and look in place, beside those that copy. */
static void run_producers_and_consumers(gyre_idle_strategy idle, bool in_place)
{
    pthread_t producers[PRODUCERS], consumers[CONSUMERS];
    struct gyre_queue_options options = ring_options();
    options.capacity = 64;
    options.idle = idle;
    options.first_sequence = UINT64_C(0xffffffff) - 1000;
    taken = 0;
    memset(seen, 0, sizeof seen);
    ring_device_start(&device, options, 1);
    for (uintptr_t i = 0; i < CONSUMERS; i++)
        unit_start(&consumers[i], in_place && i == 0 ? consume_in_place : consume, NULL);
    for (uintptr_t i = 0; i < PRODUCERS; i++)
        unit_start(&producers[i], in_place && i < 2 ? produce_in_place : produce, (void *)i);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(consumers[i], NULL);
    for (int p = 0; p < PRODUCERS; p++)
        for (int i = 0; i < EACH; i++)
            ck_assert_uint_eq(seen[p][i], 1);
    ring_device_finish(&device);
}

START_TEST(nothing_is_lost_or_doubled_between_threads)
{
    run_producers_and_consumers(GYRE_WAIT_ADAPTIVE, false);
}
END_TEST

START_TEST(nothing_is_lost_when_everybody_parks)
{
    run_producers_and_consumers(GYRE_WAIT_PARK, false);
}
END_TEST

START_TEST(who_builds_and_looks_in_place_shares_a_queue_with_the_others)
{
    run_producers_and_consumers(GYRE_WAIT_ADAPTIVE, true);
    run_producers_and_consumers(GYRE_WAIT_PARK, true);
}
END_TEST

static void *call_many(void *argument)
{
    uint64_t base = (uint64_t)(uintptr_t)argument << 40;
    for (uint64_t i = 0; i < CALLS; i++) {
        uint64_t request = base + i * 2, reply = 0;
        ck_assert_int_eq(gyre_call(device.queue, &request, 8, &reply, 8, NULL, gyre_in_ms(patiently(20000))),
                         GYRE_OK);
        ck_assert_uint_eq(reply, request + 1);
    }
    return NULL;
}

static void *stream_many(void *argument)
{
    uint64_t expected = 1, sent = 0;
    (void)argument;
    while (expected <= CALLS) {
        uint64_t reply;
        if (sent < CALLS && gyre_send(device.queue, &sent, 8, NULL, GYRE_NO_WAIT) == GYRE_OK)
            sent++;
        if (gyre_receive(device.queue, &reply, 8, NULL,
                         sent < CALLS ? GYRE_NO_WAIT : gyre_in_ms(patiently(20000))) == GYRE_OK)
            ck_assert_uint_eq(reply, expected++);
    }
    return NULL;
}

/* One at a time, so that the descriptor has to become readable for each: what an event loop does. */
static void *stream_by_descriptor(void *argument)
{
    struct pollfd entry = {.events = POLLIN};
    (void)argument;
    ck_assert_int_eq(gyre_queue_descriptor(device.queue, &entry.fd), GYRE_OK);
    for (uint64_t i = 0; i < CALLS; i++) {
        uint64_t reply;
        ck_assert_int_eq(gyre_send(device.queue, &i, 8, NULL, gyre_in_ms(patiently(20000))), GYRE_OK);
        ck_assert_int_eq(poll(&entry, 1, 20000), 1);
        ck_assert_int_eq(gyre_receive(device.queue, &reply, 8, NULL, GYRE_NO_WAIT), GYRE_OK);
        ck_assert_uint_eq(reply, i + 1);
    }
    ck_assert_int_eq(poll(&entry, 1, 0), 0);
    return NULL;
}

static void run_callers_beside(void *(*streamer)(void *), uint64_t capacity, gyre_idle_strategy idle)
{
    pthread_t callers[CALLERS], stream;
    struct gyre_queue_options options = ring_options();
    options.capacity = capacity;
    options.idle = idle;
    ring_device_start(&device, options, 1);
    unit_start(&stream, streamer, NULL);
    for (uintptr_t i = 0; i < CALLERS; i++)
        unit_start(&callers[i], call_many, (void *)(i + 1));
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    pthread_join(stream, NULL);
    ring_device_finish(&device);
}

START_TEST(callers_and_a_stream_share_a_queue)
{
    run_callers_beside(stream_many, 16, GYRE_WAIT_ADAPTIVE);
}
END_TEST

START_TEST(the_descriptor_tells_of_no_callers_completion)
{
    run_callers_beside(stream_by_descriptor, 2, GYRE_WAIT_ADAPTIVE);
    run_callers_beside(stream_by_descriptor, 16, GYRE_WAIT_PARK);
}
END_TEST

static void *receive_and_time(void *took_ns)
{
    uint64_t reply, begun_ns = gyre_now_ns();
    ck_assert_int_eq(gyre_receive(device.queue, &reply, 8, NULL, gyre_in_ms(patiently(3000))), GYRE_OK);
    *(uint64_t *)took_ns = gyre_now_ns() - begun_ns;
    return NULL;
}

/* As a device of another process that looked for sleepers just before one said that it sleeps. */
static void complete_silently(uint64_t index)
{
    gyre_slot *slot = gyre_reply_slot(gyre_ring_of(device.queue), index);
    slot->length = 8;
    slot->info = GYRE_OUTCOME_REPLY;
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE);
}

START_TEST(who_just_fell_asleep_finds_what_nobody_told)
{
    enum { TRIES = 10 }; /* this thread may wake up late, behind the second look: then once more */
    unsigned found = 0;
    ring_device_start(&device, ring_options(), 1);
    ring_device_hold(&device, true);
    for (uint64_t index = 0; index < TRIES && !found; index++) {
        const uint32_t *waiting = &gyre_ring_of(device.queue)->shared->host.waiting;
        uint64_t word = 0, took_ns = 0;
        pthread_t thread;
        ck_assert_int_eq(gyre_send(device.queue, &word, 8, NULL, GYRE_NO_WAIT), GYRE_OK);
        unit_start(&thread, receive_and_time, &took_ns);
        while (!__atomic_load_n(waiting, __ATOMIC_ACQUIRE))
            sched_yield();
        nanosleep(&(struct timespec){0, GYRE_STORES_ARRIVE_NS / 5}, NULL); /* it looked, and sleeps */
        complete_silently(index);
        pthread_join(thread, NULL);
        found += took_ns < patiently(1000 * GYRE_STORES_ARRIVE_NS); /* or at its deadline */
    }
    ring_device_finish(&device);
    ck_assert_uint_eq(found, 1);
}
END_TEST

static void *receive_until_closed(void *argument)
{
    uint64_t reply;
    (void)argument;
    return (void *)(uintptr_t)gyre_receive(device.queue, &reply, 8, NULL, GYRE_FOREVER);
}

static void *send_until_closed(void *argument)
{
    uint64_t request = 1;
    gyre_status status = GYRE_OK;
    (void)argument;
    while (status == GYRE_OK)
        status = gyre_send(device.queue, &request, 8, NULL, GYRE_FOREVER);
    return (void *)(uintptr_t)status;
}

START_TEST(closing_wakes_those_who_wait_for_ever)
{
    pthread_t receiver, sender;
    void *result;
    ring_device_start(&device, ring_options(), 1);
    unit_start(&receiver, receive_until_closed, NULL);
    while (!__atomic_load_n(&gyre_ring_of(device.queue)->shared->host.waiting, __ATOMIC_SEQ_CST))
        ;
    gyre_queue_close_sends(device.queue);
    pthread_join(receiver, &result);
    ck_assert_int_eq((int)(uintptr_t)result, GYRE_CLOSED);
    gyre_queue_reopen(device.queue);
    ring_device_hold(&device, true);
    unit_start(&sender, send_until_closed, NULL);
    while (!__atomic_load_n(&device.queue->state.credit_waiters, __ATOMIC_SEQ_CST))
        ;
    gyre_queue_close_sends(device.queue);
    pthread_join(sender, &result);
    ck_assert_int_eq((int)(uintptr_t)result, GYRE_CLOSED);
    ring_device_finish(&device);
}
END_TEST

static void *call_for_ever(void *argument)
{
    uint64_t request = 1, reply;
    (void)argument;
    return (void *)(uintptr_t)gyre_call(device.queue, &request, 8, &reply, 8, NULL, GYRE_FOREVER);
}

START_TEST(destroying_lets_callers_return_first)
{
    pthread_t callers[CALLERS];
    void *result;
    for (int round = 0; round < 50; round++) {
        ring_device_start(&device, ring_options(), 1);
        ring_device_hold(&device, true);
        for (int i = 0; i < CALLERS; i++)
            unit_start(&callers[i], call_for_ever, NULL);
        while (__atomic_load_n(&device.queue->state.inside, __ATOMIC_SEQ_CST) < CALLERS)
            ;
        ring_device_finish(&device);
        for (int i = 0; i < CALLERS; i++) {
            pthread_join(callers[i], &result);
            ck_assert_int_eq((int)(uintptr_t)result, GYRE_CLOSED);
        }
    }
}
END_TEST

/* ---- dead letters ---- */

enum { SMALL_TAKERS = 3 };

/* *argument: bytes that there is room for; then the status. */
static void *take_letter(void *argument)
{
    size_t *size = argument;
    uint64_t request;
    gyre_dead_letter letter = {.size = sizeof letter};
    *size =
        (size_t)gyre_dead_letter_take(device.queue, &letter, &request, *size, gyre_in_ms(patiently(20000)));
    return NULL;
}

static void start_taker(pthread_t *thread, size_t *size, uint32_t waiting)
{
    unit_start(thread, take_letter, size);
    while (__atomic_load_n(&device.queue->state.inside, __ATOMIC_ACQUIRE) < waiting)
        sched_yield();
    usleep(20000); /* it sleeps by then */
}

START_TEST(a_letter_finds_the_taker_who_has_room_for_it)
{
    pthread_t threads[SMALL_TAKERS + 1];
    size_t sizes[SMALL_TAKERS + 1] = {4, 4, 4, 8};
    struct gyre_queue_options options = ring_options();
    const uint64_t before = gyre_now_ns();
    uint64_t number = 1;
    options.dead_letters = 4;
    ring_device_start(&device, options, 1);
    ring_device_hold(&device, true);
    for (uint32_t i = 0; i <= SMALL_TAKERS; i++)
        start_taker(&threads[i], &sizes[i], i + 1);
    ck_assert_int_eq(gyre_send(device.queue, &number, 8, NULL, gyre_in_ms(patiently(5000))), GYRE_OK);
    gyre_queue_fail(device.queue, 0, GYRE_FAILURE_CRASH, "told to");
    ck_assert_int_eq(gyre_receive(device.queue, &number, 8, NULL, gyre_in_ms(patiently(5000))), GYRE_FAILED);
    pthread_join(threads[SMALL_TAKERS], NULL);
    ck_assert_uint_eq(sizes[SMALL_TAKERS], GYRE_OK);
    ck_assert_uint_lt(gyre_now_ns() - before, patiently(UINT64_C(15000000000)));
    ring_device_finish(&device); /* the others are told that no letter will come */
    for (uint32_t i = 0; i < SMALL_TAKERS; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

static void *look_at_lent(void *unused)
{
    for (int i = 0; i < CALLS; i++)
        gyre_lent_look(gyre_foreign_of(device.queue)->lent);
    return unused;
}

/* By its session, which closes it, while its kernel is launched again: neither has the consumer's lock. */
START_TEST(a_lent_queue_is_looked_at_while_it_opens_again)
{
    struct gyre_queue_options options = ring_options();
    pthread_t looker;
    options.lent = true;
    ring_device_start(&device, options, 1);
    ring_device_hold(&device, true);
    unit_start(&looker, look_at_lent, NULL);
    for (int i = 0; i < CALLS; i++)
        gyre_queue_reopen(device.queue);
    pthread_join(looker, NULL);
    ring_device_finish(&device);
}
END_TEST

#ifdef GYRE_CHECKED
enum { TEXT_SIZE = 1024 };

static void *receive_numbers(void *argument)
{
    for (uint64_t i = 0, reply; i < EACH; i++) {
        ck_assert_int_eq(gyre_receive(device.queue, &reply, 8, NULL, gyre_in_ms(patiently(20000))), GYRE_OK);
        ck_assert_uint_eq(reply, i + 1);
    }
    return argument;
}

static void *send_one(void *argument)
{
    uint64_t request = 1;
    gyre_status status = gyre_send(device.queue, &request, 8, NULL, GYRE_NO_WAIT);
    snprintf(argument, TEXT_SIZE, "%s", gyre_error_text());
    return (void *)(uintptr_t)status;
}

static void *receive_one(void *argument)
{
    uint64_t reply;
    gyre_status status = gyre_receive(device.queue, &reply, 8, NULL, gyre_in_ms(patiently(5000)));
    snprintf(argument, TEXT_SIZE, "%s", gyre_error_text());
    return (void *)(uintptr_t)status;
}

/* This thread stands still inside; another one comes. */
static void expect_refusal(void *(*intrude)(void *))
{
    pthread_t intruder;
    void *result;
    char text[TEXT_SIZE];
    unit_start(&intruder, intrude, text);
    pthread_join(intruder, &result);
    ck_assert_int_eq((int)(uintptr_t)result, GYRE_INVALID);
    ck_assert_msg(strstr(text, "two threads used one side of queue 'test' at the same time"), "%s", text);
}

START_TEST(two_threads_in_a_queue_of_one_are_told)
{
    struct gyre_queue_options options = ring_options();
    options.many_threads = false;
    ring_device_start(&device, options, 1);
    gyre_producer_take(device.queue);
    expect_refusal(send_one);
    ring_device_finish(&device);
    ring_device_start(&device, options, 1);
    gyre_consumer_take(device.queue);
    expect_refusal(receive_one);
    ring_device_finish(&device);
}
END_TEST

static void *receive_for_ever(void *argument)
{
    uint64_t reply;
    (void)argument;
    ck_assert_int_eq(gyre_receive(device.queue, &reply, 8, NULL, GYRE_FOREVER), GYRE_INVALID);
    return NULL;
}

START_TEST(who_sleeps_in_a_queue_of_one_learns_of_its_misuse)
{
    pthread_t receiver;
    struct gyre_queue_options options = ring_options();
    options.many_threads = false;
    ring_device_start(&device, options, 1);
    unit_start(&receiver, receive_for_ever, NULL);
    while (!__atomic_load_n(&gyre_ring_of(device.queue)->shared->host.waiting, __ATOMIC_ACQUIRE))
        sched_yield();
    usleep(20000); /* it sleeps by then */
    gyre_producer_take(device.queue);
    expect_refusal(send_one);
    pthread_join(receiver, NULL);
    ring_device_finish(&device);
}
END_TEST

START_TEST(a_sender_and_a_receiver_share_a_queue_of_one)
{
    pthread_t receiver;
    struct gyre_queue_options options = ring_options();
    options.many_threads = false;
    ring_device_start(&device, options, 1);
    unit_start(&receiver, receive_numbers, NULL);
    for (uint64_t i = 0; i < EACH; i++)
        ck_assert_int_eq(gyre_send(device.queue, &i, 8, NULL, gyre_in_ms(patiently(20000))), GYRE_OK);
    pthread_join(receiver, NULL);
    ck_assert(!gyre_queue_refused(device.queue));
    ring_device_finish(&device);
}
END_TEST
#endif

TCase *ring_thread_cases(void)
{
    TCase *tcase = tcase_create("threads");
    tcase_set_timeout(tcase, 50);
    tcase_add_test(tcase, nothing_is_lost_or_doubled_between_threads);
    tcase_add_test(tcase, nothing_is_lost_when_everybody_parks);
    tcase_add_test(tcase, who_builds_and_looks_in_place_shares_a_queue_with_the_others);
    tcase_add_test(tcase, callers_and_a_stream_share_a_queue);
    tcase_add_test(tcase, the_descriptor_tells_of_no_callers_completion);
    tcase_add_test(tcase, who_just_fell_asleep_finds_what_nobody_told);
    tcase_add_test(tcase, closing_wakes_those_who_wait_for_ever);
    tcase_add_test(tcase, destroying_lets_callers_return_first);
    tcase_add_test(tcase, a_letter_finds_the_taker_who_has_room_for_it);
    tcase_add_test(tcase, a_lent_queue_is_looked_at_while_it_opens_again);
#ifdef GYRE_CHECKED
    tcase_add_test(tcase, two_threads_in_a_queue_of_one_are_told);
    tcase_add_test(tcase, who_sleeps_in_a_queue_of_one_learns_of_its_misuse);
    tcase_add_test(tcase, a_sender_and_a_receiver_share_a_queue_of_one);
#endif
    return tcase;
}
