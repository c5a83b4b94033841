/* SPDX-License-Identifier: Apache-2.0 */
/* Full queues that drop their oldest message: for a sender that gets its place, once, and for nobody else. */
#include <pthread.h>
#include <sched.h>

#include "../../patience.h"
#include "ring_device.h"
#include "test_ring.h"

#include "core/queue/end.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"

static struct ring_device device;

static void fill_held_queue(void)
{
    struct gyre_queue_options options = ring_options();
    options.policy = GYRE_FULL_DROP_OLDEST;
    ring_device_start(&device, options, 1);
    ring_device_hold(&device, true);
    for (uint64_t i = 0; i < options.capacity; i++)
        ring_device_send(&device, i);
}

START_TEST(full_queue_drops_the_oldest_reply_and_counts_it)
{
    fill_held_queue();
    ring_device_hold(&device, false);
    while (gyre_queue_outstanding(device.queue))
        ;
    ring_device_send(&device, 8);
    ring_device_send(&device, 9);
    for (uint64_t i = 2; i < 10; i++)
        ck_assert_uint_eq(ring_device_receive(&device), i + 1);
    ck_assert_uint_eq(ring_device_stats(&device).dropped, 2);
    ring_device_finish(&device);
}
END_TEST

static void ck_accounts(void)
{
    gyre_queue_stats now = ring_device_stats(&device);
    ck_assert_uint_eq(now.sent,
                      now.received + now.dropped + now.abandoned + gyre_queue_outstanding(device.queue));
}

/* The device read the order of a sender, who then gave up: what it drops is left to receivers, or the next sender. */
static void obey_late(void)
{
    fill_held_queue();
    __atomic_store_n(&gyre_ring_of(device.queue)->shared->host.drop_before, 1, __ATOMIC_RELEASE);
    ring_device_hold(&device, false);
    while (gyre_queue_outstanding(device.queue))
        ;
}

START_TEST(a_drop_that_a_receiver_is_told_of_is_counted_once)
{
    gyre_completion completion;
    gyre_view views[8];
    size_t found = 0;
    uint64_t reply;
    obey_late();
    ck_assert_int_eq(gyre_receive(device.queue, &reply, 8, &completion, gyre_in_ms(patiently(2000))),
                     GYRE_OK);
    ck_assert_int_eq(completion.outcome, GYRE_WAS_DROPPED);
    for (uint64_t i = 1; i < 8; i++)
        ck_assert_uint_eq(ring_device_receive(&device), i + 1);
    ck_assert_uint_eq(ring_device_stats(&device).dropped, 1);
    ck_assert_uint_eq(ring_device_stats(&device).received, 7);
    ck_accounts();
    ring_device_finish(&device);
    obey_late();
    ck_assert_int_eq(gyre_peek(device.queue, views, 8, &found, gyre_in_ms(patiently(2000))), GYRE_OK);
    ck_assert_int_eq(views[0].outcome, GYRE_WAS_DROPPED);
    ck_assert_int_eq(gyre_release_views(device.queue, found), GYRE_OK);
    ck_assert_uint_eq(ring_device_stats(&device).dropped, 1);
    ck_assert_uint_eq(ring_device_stats(&device).received, 7);
    ck_accounts();
    ring_device_finish(&device);
}
END_TEST

START_TEST(a_drop_that_came_late_is_the_next_senders)
{
    const uint64_t number = 99;
    obey_late();
    ck_assert_int_eq(gyre_send(device.queue, &number, 8, NULL, GYRE_NO_WAIT), GYRE_OK);
    for (uint64_t i = 1; i < 8; i++)
        ck_assert_uint_eq(ring_device_receive(&device), i + 1);
    ck_assert_uint_eq(ring_device_receive(&device), 100);
    ck_assert_uint_eq(ring_device_stats(&device).dropped, 1);
    ck_accounts();
    ring_device_finish(&device);
}
END_TEST

START_TEST(who_gets_no_room_drops_nothing)
{
    const uint64_t number = 99;
    fill_held_queue();
    ck_assert_int_eq(gyre_send(device.queue, &number, 8, NULL, GYRE_NO_WAIT), GYRE_AGAIN);
    ck_assert_int_eq(gyre_send(device.queue, &number, 8, NULL, gyre_in_ms(20)), GYRE_TIMEOUT);
    ring_device_hold(&device, false);
    for (uint64_t i = 0; i < 8; i++)
        ck_assert_uint_eq(ring_device_receive(&device), i + 1);
    ck_assert_uint_eq(ring_device_stats(&device).dropped, 0);
    ck_accounts();
    ring_device_finish(&device);
}
END_TEST

static void *send_patiently(void *queue)
{
    const uint64_t number = 99;
    ck_assert_int_eq(gyre_send(queue, &number, 8, NULL, gyre_in_ms(patiently(20000))), GYRE_OK);
    return NULL;
}

START_TEST(who_gives_up_leaves_the_order_of_others)
{
    pthread_t sender;
    const uint64_t number = 98;
    fill_held_queue();
    const uint64_t *drop_before = &gyre_ring_of(device.queue)->shared->host.drop_before;
    unit_start(&sender, send_patiently, device.queue);
    while (!__atomic_load_n(drop_before, __ATOMIC_ACQUIRE))
        sched_yield();
    ck_assert_int_eq(gyre_send(device.queue, &number, 8, NULL, gyre_in_ms(20)), GYRE_TIMEOUT);
    ck_assert_uint_eq(__atomic_load_n(drop_before, __ATOMIC_ACQUIRE), 1);
    ring_device_hold(&device, false);
    pthread_join(sender, NULL);
    for (uint64_t i = 1; i < 8; i++)
        ck_assert_uint_eq(ring_device_receive(&device), i + 1);
    ck_assert_uint_eq(ring_device_receive(&device), 100);
    ck_assert_uint_eq(ring_device_stats(&device).dropped, 1);
    ck_accounts();
    ring_device_finish(&device);
}
END_TEST

START_TEST(full_queue_drops_the_oldest_request_before_it_is_handled)
{
    pthread_t sender;
    fill_held_queue();
    unit_start(&sender, send_patiently, device.queue);
    while (!__atomic_load_n(&gyre_ring_of(device.queue)->shared->host.drop_before, __ATOMIC_ACQUIRE))
        sched_yield();
    ring_device_hold(&device, false);
    pthread_join(sender, NULL);
    for (uint64_t i = 1; i < 8; i++)
        ck_assert_uint_eq(ring_device_receive(&device), i + 1);
    ck_assert_uint_eq(ring_device_receive(&device), 100);
    ck_assert_uint_eq(ring_device_stats(&device).dropped, 1);
    ring_device_finish(&device);
}
END_TEST

static void *send_at_length(void *queue)
{
    const uint64_t number = 99;
    return (void *)(uintptr_t)gyre_send(queue, &number, 8, NULL, gyre_in_ms(patiently(20000)));
}

START_TEST(who_waits_for_a_place_of_a_queue_that_closes_drops_nothing)
{
    pthread_t sender;
    void *status;
    fill_held_queue();
    const uint64_t *drop_before = &gyre_ring_of(device.queue)->shared->host.drop_before;
    unit_start(&sender, send_at_length, device.queue);
    while (!__atomic_load_n(drop_before, __ATOMIC_ACQUIRE))
        sched_yield();
    gyre_queue_close_sends(device.queue);
    ring_device_stop(&device);
    gyre_queue_complete_unhandled(device.queue);
    pthread_join(sender, &status);
    ck_assert_int_eq((int)(uintptr_t)status, GYRE_CLOSED);
    for (uint64_t i = 0; i < 8; i++) {
        gyre_completion completion;
        uint64_t reply;
        ck_assert_int_eq(gyre_receive(device.queue, &reply, 8, &completion, GYRE_NO_WAIT), GYRE_OK);
        ck_assert_uint_eq(completion.index, i);
    }
    ck_assert_uint_eq(ring_device_stats(&device).dropped, 0);
    ring_device_finish(&device);
}
END_TEST

TCase *ring_drop_cases(void)
{
    TCase *tcase = tcase_create("drops");
    tcase_set_timeout(tcase, 50);
    tcase_add_test(tcase, full_queue_drops_the_oldest_reply_and_counts_it);
    tcase_add_test(tcase, full_queue_drops_the_oldest_request_before_it_is_handled);
    tcase_add_test(tcase, a_drop_that_a_receiver_is_told_of_is_counted_once);
    tcase_add_test(tcase, a_drop_that_came_late_is_the_next_senders);
    tcase_add_test(tcase, who_gets_no_room_drops_nothing);
    tcase_add_test(tcase, who_gives_up_leaves_the_order_of_others);
    tcase_add_test(tcase, who_waits_for_a_place_of_a_queue_that_closes_drops_nothing);
    return tcase;
}
