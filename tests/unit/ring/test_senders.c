/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for room gets it in the order of waiting; nobody is left out, and nobody sleeps for ever. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "../../patience.h"
#include "ring_device.h"
#include "unit/unit.h"

#include "core/queue/end.h"
#include "core/queue/progress.h"
#include "core/queue/resume.h"
#include "core/queue/senders.h"
#include "core/queue/side.h"
#include "core/queue/state.h"
#include "core/ring/ring_options.h"

enum {
    SENDERS = 12,
    EACH = 1500,
    STACK_NEAR = 65536,
    ROOM = 64,
    STORMERS = 8,
    LET_IN = 3000,
    HASTY = 8,
    TRIES = 1500
};

static struct ring_device device;
static uint64_t counts[SENDERS];
static uintptr_t stacks[SENDERS]; /* atomic; where each caller's stack is */
static uint64_t total, served;    /* atomic; served: threads of a storm that had some of it */
static pthread_barrier_t begin;   /* those who are compared begin together */

static void start(uint64_t capacity, gyre_idle_strategy idle, gyre_full_policy policy)
{
    struct gyre_queue_options options = ring_options();
    options.capacity = capacity;
    options.idle = idle;
    options.policy = policy;
    memset(counts, 0, sizeof counts);
    total = served = 0;
    ring_device_start(&device, options, 1);
}

/* How many wait for room. */
static unsigned in_line(void)
{
    unsigned count = 0;
    gyre_producer_take(device.queue);
    for (const struct gyre_sender *sender = device.queue->producer.senders.first; sender;
         sender = sender->next)
        count++;
    gyre_producer_give(device.queue);
    return count;
}

static void await_in_line(unsigned count)
{
    while (in_line() != count)
        sched_yield();
}

static void *send_number(void *number)
{
    const uint64_t request = (uint64_t)(uintptr_t)number;
    return (void *)(uintptr_t)gyre_send(device.queue, &request, 8, NULL, gyre_in_ms(patiently(60000)));
}

static void fill(uint64_t capacity)
{
    const uint64_t none = 0;
    ring_device_hold(&device, true);
    for (uint64_t i = 0; i < capacity; i++)
        ck_assert_int_eq(gyre_send(device.queue, &none, 8, NULL, GYRE_NO_WAIT), GYRE_OK);
}

static void run_in_order(gyre_idle_strategy idle)
{
    pthread_t threads[SENDERS];
    void *status;
    start(2, idle, GYRE_FULL_BLOCK);
    fill(2);
    for (uintptr_t i = 0; i < SENDERS; i++) {
        unit_start(&threads[i], send_number, (void *)(i + 1));
        await_in_line((unsigned)i + 1);
    }
    ring_device_hold(&device, false);
    for (int i = 0; i < 2; i++)
        ck_assert_uint_eq(ring_device_receive(&device), 1);
    for (uint64_t i = 0; i < SENDERS; i++)
        ck_assert_uint_eq(ring_device_receive(&device), i + 2);
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], &status);
        ck_assert_int_eq((int)(uintptr_t)status, GYRE_OK);
    }
    ck_assert_uint_eq(in_line(), 0);
    ring_device_finish(&device);
}

START_TEST(room_is_given_in_the_order_of_waiting)
{
    run_in_order(GYRE_WAIT_ADAPTIVE);
    run_in_order(GYRE_WAIT_PARK);
}
END_TEST

static bool is_over(void)
{
    return __atomic_load_n(&total, __ATOMIC_RELAXED) >= SENDERS * EACH;
}

static void *call_until_over(void *me)
{
    uint64_t *const count = &counts[(uintptr_t)me], request = (uintptr_t)me, reply;
    __atomic_store_n(&stacks[(uintptr_t)me], (uintptr_t)&reply, __ATOMIC_RELAXED);
    pthread_barrier_wait(&begin);
    while (!is_over()) {
        ck_assert_int_eq(gyre_call(device.queue, &request, 8, &reply, 8, NULL, gyre_in_ms(patiently(60000))),
                         GYRE_OK);
        ck_assert_uint_eq(reply, request + 1);
        __atomic_fetch_add(count, 1, __ATOMIC_RELEASE); /* read under the producer's lock: the call is over */
        __atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void *send_batches_until_over(void *argument)
{
    static uint64_t requests[1024];
    size_t sent;
    while (!is_over())
        ck_assert_int_eq(
            gyre_send_batch(device.queue, requests, 8, 1024, &sent, gyre_in_ms(patiently(60000))), GYRE_OK);
    return argument;
}

static void *receive_until_over(void *argument)
{
    uint64_t replies[256];
    size_t received;
    while (!is_over() || gyre_queue_outstanding(device.queue)) {
        const gyre_status status =
            gyre_receive_batch(device.queue, replies, 8, 256, NULL, &received, gyre_in_ms(50));
        ck_assert(status == GYRE_OK || status == GYRE_TIMEOUT);
    }
    return argument;
}

/* One look at the line: the callers in it, first come first, each with the calls that it had finished. */
struct line {
    uint64_t sent; /* requests that had been let in */
    unsigned length, places[SENDERS];
    uint64_t finished[SENDERS];
    bool waits[SENDERS];
};

/* The caller on whose stack that place in line lies; SENDERS: none of them. */
static unsigned caller_of(const struct gyre_sender *sender)
{
    for (unsigned i = 0; i < SENDERS; i++) {
        const uintptr_t stack = __atomic_load_n(&stacks[i], __ATOMIC_RELAXED), place = (uintptr_t)sender;
        if (place < stack + STACK_NEAR && stack < place + STACK_NEAR)
            return i;
    }
    return SENDERS;
}

static void look_at_line(struct line *line)
{
    memset(line, 0, sizeof *line);
    gyre_producer_take(device.queue);
    line->sent = device.queue->producer.sent;
    for (const struct gyre_sender *sender = device.queue->producer.senders.first; sender;
         sender = sender->next) {
        const unsigned caller = caller_of(sender);
        if (caller < SENDERS) {
            line->waits[caller] = true;
            line->places[caller] = line->length;
            line->finished[caller] = __atomic_load_n(&counts[caller], __ATOMIC_ACQUIRE);
        }
        line->length++;
    }
    gyre_producer_give(device.queue);
}

/*
 * Whoever waited at both looks for the same call moved on as its place in line promises: at most one sender from outside
 * went before each sender in line, and one more before the next; each took at most `share` places. Returns how many waited so.
 * It holds at any speed of the threads: none that sleeps or is not run is in line.
 */
static unsigned check_order(const struct line *before, const struct line *after, uint64_t share)
{
    unsigned count = 0;
    for (unsigned i = 0; i < SENDERS; i++) {
        if (!before->waits[i] || !after->waits[i] || before->finished[i] != after->finished[i])
            continue;
        const uint64_t came = before->places[i] - after->places[i], let_in = after->sent - before->sent;
        ck_assert_msg(after->places[i] <= before->places[i], "a sender was moved back in line");
        ck_assert_msg(let_in <= (2 * came + 1) * share,
                      "%llu requests were let in while a sender moved on by %llu places",
                      (unsigned long long)let_in, (unsigned long long)came);
        count++;
    }
    return count;
}

/* Until all is over; the looks lie as near to each other as the machine lets them. */
static void watch_line(uint64_t share)
{
    struct line lines[2];
    uint64_t compared = 0;
    look_at_line(&lines[0]);
    for (unsigned look = 1; !is_over(); look++) {
        look_at_line(&lines[look % 2]);
        compared += check_order(&lines[!(look % 2)], &lines[look % 2], share);
        sched_yield();
    }
    ck_assert_uint_gt(compared, 0);
}

static void run_callers(uint64_t capacity, bool beside_batches)
{
    pthread_t threads[SENDERS], sender, receiver;
    start(capacity, GYRE_WAIT_ADAPTIVE, GYRE_FULL_BLOCK);
    pthread_barrier_init(&begin, NULL, SENDERS + 1);
    if (beside_batches) {
        unit_start(&receiver, receive_until_over, NULL);
        unit_start(&sender, send_batches_until_over, NULL);
    }
    for (uintptr_t i = 0; i < SENDERS; i++)
        unit_start(&threads[i], call_until_over, (void *)i);
    pthread_barrier_wait(&begin);
    watch_line(capacity / 2);
    for (int i = 0; i < SENDERS; i++)
        pthread_join(threads[i], NULL);
    if (beside_batches) {
        pthread_join(sender, NULL);
        pthread_join(receiver, NULL);
    }
    ring_device_finish(&device);
}

START_TEST(callers_of_a_small_queue_are_let_in_by_turns)
{
    run_callers(2, false);
}
END_TEST

START_TEST(a_batch_leaves_callers_their_turns)
{
    run_callers(64, true);
}
END_TEST

/* Returns how many requests of the batch the queue took. */
static void *send_one_batch(void *argument)
{
    static uint64_t requests[ROOM];
    size_t sent;
    (void)argument;
    ck_assert_int_eq(gyre_send_batch(device.queue, requests, 8, ROOM, &sent, gyre_in_ms(patiently(60000))),
                     GYRE_OK);
    return (void *)sent;
}

/* The batch is first in line and finds the whole ring free, but a sender waits behind it. */
START_TEST(a_batch_takes_half_of_the_room_while_a_sender_waits)
{
    pthread_t batch, single;
    uint64_t replies[ROOM];
    size_t received;
    void *sent;
    start(ROOM, GYRE_WAIT_PARK, GYRE_FULL_BLOCK);
    fill(ROOM);
    unit_start(&batch, send_one_batch, NULL);
    await_in_line(1);
    unit_start(&single, send_number, (void *)7);
    await_in_line(2);
    ring_device_hold(&device, false);
    while (gyre_queue_first_unanswered(device.queue) < ROOM)
        sched_yield();
    ck_assert_int_eq(gyre_receive_batch(device.queue, replies, 8, ROOM, NULL, &received, GYRE_NO_WAIT),
                     GYRE_OK);
    ck_assert_uint_eq(received, ROOM);
    pthread_join(batch, &sent);
    ck_assert_uint_le((uintptr_t)sent, ROOM / 2);
    pthread_join(single, NULL);
    for (uintptr_t i = 0; i < (uintptr_t)sent; i++)
        ck_assert_uint_eq(ring_device_receive(&device), 1);
    ck_assert_uint_eq(ring_device_receive(&device), 8);
    ring_device_finish(&device);
}
END_TEST

/* Of who waits, some give up: the first in line, the last, one between. Those behind them come all the same. */
START_TEST(who_gives_up_keeps_nobody)
{
    pthread_t threads[SENDERS];
    void *status;
    start(2, GYRE_WAIT_PARK, GYRE_FULL_BLOCK);
    fill(2);
    const uint64_t request = 99;
    for (uintptr_t i = 0; i < SENDERS;
         i++) { /* each third one is this thread, which gives up in front or between */
        if (i % 3 == 0)
            ck_assert_int_eq(gyre_send(device.queue, &request, 8, NULL, gyre_in_ms(2)), GYRE_TIMEOUT);
        unit_start(&threads[i], send_number, (void *)(i + 1));
        await_in_line((unsigned)i + 1);
    }
    ck_assert_int_eq(gyre_send(device.queue, &request, 8, NULL, gyre_in_ms(2)), GYRE_TIMEOUT);
    ck_assert_int_eq(gyre_send(device.queue, &request, 8, NULL, GYRE_NO_WAIT), GYRE_AGAIN);
    ring_device_hold(&device, false);
    for (int i = 0; i < 2; i++)
        ck_assert_uint_eq(ring_device_receive(&device), 1);
    for (uint64_t i = 0; i < SENDERS; i++)
        ck_assert_uint_eq(ring_device_receive(&device), i + 2);
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], &status);
        ck_assert_int_eq((int)(uintptr_t)status, GYRE_OK);
    }
    ring_device_finish(&device);
}
END_TEST

/* Sends with deadlines of all lengths down to none; counts what was accepted. */
static void *send_in_haste(void *me)
{
    uint64_t *const count = &counts[(uintptr_t)me], request = 0;
    uint32_t random = (uint32_t)(uintptr_t)me * 2654435761u + 1;
    for (unsigned i = 0; i < TRIES; i++) {
        random = random * 1664525u + 1013904223u;
        const uint64_t deadline =
            random >> 30 ? gyre_now_ns() + (random >> 12) % 200000 : gyre_in_ms(patiently(60000));
        const gyre_status status = gyre_send(device.queue, &request, 8, NULL, deadline);
        ck_assert(status == GYRE_OK || (status == GYRE_TIMEOUT && random >> 30));
        *count += status == GYRE_OK;
    }
    __atomic_fetch_add(&total, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void run_in_haste(gyre_idle_strategy idle)
{
    pthread_t threads[HASTY];
    uint64_t accepted = 0, received = 0, reply;
    start(2, idle, GYRE_FULL_BLOCK);
    for (uintptr_t i = 0; i < HASTY; i++)
        unit_start(&threads[i], send_in_haste, (void *)i);
    while (__atomic_load_n(&total, __ATOMIC_ACQUIRE) < HASTY)
        received += gyre_receive(device.queue, &reply, 8, NULL, gyre_in_ms(1)) == GYRE_OK;
    for (int i = 0; i < HASTY; i++) {
        pthread_join(threads[i], NULL);
        accepted += counts[i];
    }
    for (; received < accepted; received++)
        ring_device_receive(&device);
    ck_assert_int_eq(gyre_receive(device.queue, &reply, 8, NULL, GYRE_NO_WAIT), GYRE_AGAIN);
    ck_assert_uint_eq(in_line(), 0);
    ring_device_finish(&device);
}

START_TEST(nobody_sleeps_for_ever_where_others_give_up)
{
    run_in_haste(GYRE_WAIT_ADAPTIVE);
    run_in_haste(GYRE_WAIT_PARK);
}
END_TEST

START_TEST(closing_wakes_the_whole_line)
{
    pthread_t threads[SENDERS];
    void *status;
    start(2, GYRE_WAIT_PARK, GYRE_FULL_BLOCK);
    fill(2);
    for (uintptr_t i = 0; i < SENDERS; i++)
        unit_start(&threads[i], send_number, (void *)i);
    await_in_line(SENDERS);
    gyre_queue_close_sends(device.queue);
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], &status);
        ck_assert_int_eq((int)(uintptr_t)status, GYRE_CLOSED);
    }
    ck_assert_uint_eq(in_line(), 0);
    ring_device_finish(&device);
}
END_TEST

/* Each had a tenth of an equal share; or they never will, because one has been kept out for too long. */
static bool storm_is_over(void)
{
    const uint64_t let_in = __atomic_load_n(&total, __ATOMIC_RELAXED);
    const bool all_had_some = __atomic_load_n(&served, __ATOMIC_RELAXED) == STORMERS;
    return let_in >= STORMERS * LET_IN && (all_had_some || let_in >= 20 * STORMERS * LET_IN);
}

/* Messages of a thread that is never kept waiting, and tries until it is let in. */
static void *storm(void *me)
{
    uint64_t *const count = &counts[(uintptr_t)me], request = (uintptr_t)me, reply;
    pthread_barrier_wait(&begin);
    while (!storm_is_over()) {
        const gyre_status status =
            gyre_call(device.queue, &request, 8, &reply, 8, NULL, gyre_in_ms(patiently(60000)));
        ck_assert(status == GYRE_OK || status == GYRE_AGAIN);
        if (status != GYRE_OK)
            continue;
        if (++*count == LET_IN / 10)
            __atomic_fetch_add(&served, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* There is no order to keep: which of them ask at the right moment is the scheduler's, and on a busy machine some hardly run.
 * But each gets something. */
START_TEST(in_a_storm_everybody_is_let_in)
{
    pthread_t threads[STORMERS];
    pthread_barrier_init(&begin, NULL, STORMERS);
    start(2, GYRE_WAIT_ADAPTIVE, GYRE_FULL_REJECT);
    for (uintptr_t i = 0; i < STORMERS; i++)
        unit_start(&threads[i], storm, (void *)i);
    for (int i = 0; i < STORMERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < STORMERS; i++)
        ck_assert_uint_ge(counts[i], LET_IN / 10);
    ring_device_finish(&device);
}
END_TEST

/* A thread that is turned away alone finds the place that comes free, each time. */
START_TEST(one_who_is_turned_away_alone_starts_no_storm)
{
    const uint64_t request = 1;
    start(2, GYRE_WAIT_ADAPTIVE, GYRE_FULL_REJECT);
    for (int round = 0; round < 100; round++) {
        fill(2);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(gyre_send(device.queue, &request, 8, NULL, gyre_in_ms(patiently(60000))),
                             GYRE_AGAIN);
        ring_device_hold(&device, false);
        ring_device_receive(&device);
        ck_assert_int_eq(gyre_send(device.queue, &request, 8, NULL, GYRE_NO_WAIT), GYRE_OK);
        ring_device_receive(&device);
        ring_device_receive(&device);
    }
    ring_device_finish(&device);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("senders");
    TCase *tcase = tcase_create("senders");
    tcase_set_timeout(tcase, 100);
    tcase_add_test(tcase, room_is_given_in_the_order_of_waiting);
    tcase_add_test(tcase, callers_of_a_small_queue_are_let_in_by_turns);
    tcase_add_test(tcase, a_batch_leaves_callers_their_turns);
    tcase_add_test(tcase, a_batch_takes_half_of_the_room_while_a_sender_waits);
    tcase_add_test(tcase, who_gives_up_keeps_nobody);
    tcase_add_test(tcase, nobody_sleeps_for_ever_where_others_give_up);
    tcase_add_test(tcase, closing_wakes_the_whole_line);
    tcase_add_test(tcase, in_a_storm_everybody_is_let_in);
    tcase_add_test(tcase, one_who_is_turned_away_alone_starts_no_storm);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
