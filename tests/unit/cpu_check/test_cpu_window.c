/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests could run at the same time as which messages, from what was seen when. */
#include "backends/cpu/check/cpu_window.h"
#include "backends/cpu/cpu_resident.h"
#include "unit/unit.h"

#include <string.h>

enum { CAPACITY = 8, STRIDE = 64 };

static _Alignas(64) unsigned char ring[CAPACITY * STRIDE];
static struct cpu_queue queue;
static struct cpu_window window;

static void begin(void)
{
    memset(ring, 0, sizeof ring);
    memset(&queue, 0, sizeof queue);
    memset(&window, 0, sizeof window);
    queue.region =
        (gyre_queue_region *)(void *)ring; /* slots begin at offset 0: nothing else of it is read */
    queue.serial = 5;
    queue.slots.capacity = CAPACITY;
    queue.slots.request_stride = STRIDE;
}

/* Requests up to `end` are in the ring. */
static void send_until(uint64_t end)
{
    for (uint64_t i = end > CAPACITY ? end - CAPACITY : 0; i < end; i++)
        ((gyre_slot *)(void *)&ring[i % CAPACITY * STRIDE])->sequence = i + 1;
}

static uint64_t since(uint64_t index, uint64_t expected_count)
{
    uint64_t count;
    const uint64_t first = cpu_window_since(&window, index, &count);
    ck_assert_uint_eq(count, expected_count);
    return first;
}

START_TEST(requests_of_one_look_are_a_window)
{
    begin();
    send_until(3);
    cpu_window_look(&window, &queue, 10);
    ck_assert_uint_eq(since(0, 3), 11);
    ck_assert_uint_eq(since(2, 1), 11);
    queue.next = 1; /* one was handled, as message 11; nothing came */
    cpu_window_look(&window, &queue, 11);
    ck_assert_uint_eq(since(1, 2), 11);
}
END_TEST

START_TEST(later_requests_are_another_window)
{
    begin();
    send_until(3);
    cpu_window_look(&window, &queue, 10);
    queue.next = 1;
    send_until(5);
    cpu_window_look(&window, &queue, 11);
    ck_assert_uint_eq(since(1, 2), 11);
    ck_assert_uint_eq(since(3, 2), 12);
}
END_TEST

START_TEST(a_request_that_came_after_all_others_were_handled_follows_them)
{
    begin();
    send_until(3);
    cpu_window_look(&window, &queue, 10);
    queue.next = 3; /* messages 11 to 13 */
    cpu_window_look(&window, &queue, 13);
    since(3, 0);
    send_until(4);
    cpu_window_look(&window, &queue, 13);
    ck_assert_uint_eq(since(3, 1), 14);
}
END_TEST

START_TEST(another_queue_begins_anew)
{
    begin();
    send_until(3);
    cpu_window_look(&window, &queue, 10);
    queue.serial = 6;
    cpu_window_look(&window, &queue, 20);
    ck_assert_uint_eq(since(0, 3), 21);
}
END_TEST

START_TEST(a_full_ring_is_looked_at_once_around)
{
    begin();
    queue.next = 100;
    send_until(100 + CAPACITY);
    cpu_window_look(&window, &queue, 0);
    ck_assert_uint_eq(since(100, CAPACITY), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu_window");
    TCase *tests = tcase_create("windows");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, requests_of_one_look_are_a_window);
    tcase_add_test(tests, later_requests_are_another_window);
    tcase_add_test(tests, a_request_that_came_after_all_others_were_handled_follows_them);
    tcase_add_test(tests, another_queue_begins_anew);
    tcase_add_test(tests, a_full_ring_is_looked_at_once_around);
    return unit_run(suite);
}
