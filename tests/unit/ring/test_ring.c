/* SPDX-License-Identifier: Apache-2.0 */
/* The client side of queues, one thread at a time: order, room, policies, outcomes, zero-copy, ends. */
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../patience.h"
#include "ring_device.h"
#include "test_ring.h"
#include "unit/unit.h"

#include "core/queue/end.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/queue/wait_any.h"
#include "core/queue/progress.h"
#include "core/ring/ring.h"
#include "core/stages/make.h"

static struct ring_device device;

START_TEST(replies_come_in_order_over_many_laps)
{
    ring_device_start(&device, ring_options(), 1);
    for (uint64_t i = 0; i < 1000; i++) {
        ring_device_send(&device, i * 10);
        if (i >= 5)
            ck_assert_uint_eq(ring_device_receive(&device), (i - 5) * 10 + 1);
    }
    ck_assert_uint_eq(ring_device_stats(&device).sent, 1000);
    ck_assert_uint_eq(ring_device_stats(&device).received, 995);
    ck_assert_uint_eq(ring_device_stats(&device).high_water, 6);
    ring_device_finish(&device);
}
END_TEST

/* Or a word of the device's beside them on the heap makes
 * each call wait for a line, by the luck of malloc. */
START_TEST(marks_share_no_line_with_the_heap)
{
    void *neighbours[64];
    for (size_t i = 0; i < 64; i++) {
        neighbours[i] = malloc(8 + i);
        ring_device_start(&device, ring_options(), 1);
        ck_assert_uint_eq((uintptr_t)device.queue->marks % GYRE_LINE_SIZE, 0);
        ck_assert_uint_ge(malloc_usable_size(device.queue->marks), GYRE_LINE_SIZE);
        ring_device_finish(&device);
    }
    for (size_t i = 0; i < 64; i++)
        free(neighbours[i]);
}
END_TEST

/* Another process that serves the queue writes completions that nobody sent a request for. */
static void write_completions_ahead(uint64_t first, uint64_t count)
{
    for (uint64_t index = first; index < first + count; index++) {
        gyre_slot *slot = gyre_reply_slot(gyre_ring_of(device.queue), index);
        slot->length = sizeof(uint64_t);
        slot->info = GYRE_OUTCOME_REPLY;
        __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE);
    }
}

static int readable(int descriptor, int timeout_ms)
{
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    return poll(&entry, 1, timeout_ms);
}

static void ck_nothing_more(void)
{
    uint64_t replies[4];
    gyre_view views[4];
    size_t found = 9;
    ck_assert_int_eq(gyre_receive(device.queue, replies, 8, NULL, GYRE_NO_WAIT), GYRE_AGAIN);
    ck_assert_int_eq(gyre_receive(device.queue, replies, 8, NULL, gyre_in_ms(20)), GYRE_TIMEOUT);
    ck_assert_int_eq(gyre_receive_batch(device.queue, replies, 8, 4, NULL, &found, gyre_in_ms(20)),
                     GYRE_TIMEOUT);
    ck_assert_uint_eq(found, 0);
    ck_assert_int_eq(gyre_peek(device.queue, views, 4, &found, gyre_in_ms(20)), GYRE_TIMEOUT);
    ck_assert_uint_eq(found, 0);
    gyre_wish wish = {.queue = device.queue, .wants = GYRE_WISH_COMPLETION};
    ck_assert_int_eq(gyre_wait_any(&wish, 1, &found, gyre_in_ms(20)), GYRE_TIMEOUT);
    int descriptor = -1;
    ck_assert_int_eq(gyre_queue_descriptor(device.queue, &descriptor), GYRE_OK);
    ck_assert_int_eq(readable(descriptor, 20), 0);
}

START_TEST(completions_without_a_request_do_not_count)
{
    struct gyre_queue_options options = ring_options();
    uint64_t replies[8];
    size_t count = 0;
    options.device_lies = true;
    ring_device_start(&device, options, 1);
    for (uint64_t lap = 0; lap < 20; lap += 2) {
        ring_device_send(&device, lap);
        ck_assert_uint_eq(ring_device_receive(&device), lap + 1);
        ring_device_send(&device, lap + 1);
        while (gyre_queue_outstanding(device.queue))
            ;
        ck_assert(gyre_receive_batch(device.queue, replies, 8, 8, NULL, &count, GYRE_FOREVER) == GYRE_OK);
        ck_assert(count == 1 && replies[0] == lap + 2);
        write_completions_ahead(lap + 2, 4);
        ck_nothing_more();
        ck_assert_uint_eq(gyre_queue_first_unanswered(device.queue), lap + 2);
        ring_device_hold(&device, true);
        for (uint64_t index = lap + 2; index < lap + 6; index++) /* the device takes it back */
            __atomic_store_n(&gyre_reply_slot(gyre_ring_of(device.queue), index)->sequence, 0,
                             __ATOMIC_RELEASE);
        ring_device_hold(&device, false);
    }
    const gyre_queue_stats now = ring_device_stats(&device);
    ck_assert(now.sent == 20 && now.received == 20 && now.high_water <= 8);
    ring_device_finish(&device);
}
END_TEST

START_TEST(sequences_cross_the_32_bit_wrap)
{
    struct gyre_queue_options options = ring_options();
    options.first_sequence = UINT64_C(0xffffffff) - 20;
    ring_device_start(&device, options, 1);
    for (uint64_t i = 0; i < 100; i++) {
        gyre_completion completion;
        uint64_t index = 0, reply = 0;
        ck_assert_int_eq(gyre_send(device.queue, &i, sizeof i, &index, GYRE_NO_WAIT), GYRE_OK);
        ck_assert_uint_eq(index, options.first_sequence + i);
        ck_assert_int_eq(
            gyre_receive(device.queue, &reply, sizeof reply, &completion, gyre_in_ms(patiently(2000))),
            GYRE_OK);
        ck_assert_uint_eq(completion.index, index);
        ck_assert_uint_eq(reply, i + 1);
    }
    ring_device_finish(&device);
}
END_TEST

START_TEST(messages_of_all_sizes_keep_every_byte)
{
    static const uint32_t words[] = {1, 6, 7, 128, 8192};
    static uint64_t request[8192], reply[8192];
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        ring_device_start(&device, ring_options(), words[w]);
        for (uint64_t i = 0; i < 50; i++) {
            for (uint32_t k = 0; k < words[w]; k++)
                request[k] = i * 1000003 + k;
            ck_assert_int_eq(gyre_call(device.queue, request, words[w] * 8, reply, words[w] * 8, NULL,
                                       gyre_in_ms(patiently(2000))),
                             GYRE_OK);
            for (uint32_t k = 0; k < words[w]; k++)
                ck_assert_uint_eq(reply[k], request[k] + 1);
        }
        ring_device_finish(&device);
    }
}
END_TEST

START_TEST(failures_and_silence_are_told_apart)
{
    gyre_completion completion;
    uint64_t reply = 5;
    ring_device_start(&device, ring_options(), 1);
    ring_device_send(&device, FAIL_WORD);
    ring_device_send(&device, SILENT_WORD);
    ring_device_send(&device, FAIL_WORD);
    ck_assert_int_eq(gyre_receive(device.queue, &reply, 8, &completion, gyre_in_ms(patiently(2000))),
                     GYRE_OK);
    ck_assert_int_eq(completion.outcome, GYRE_HANDLER_FAILED);
    ck_assert_int_eq(completion.failure_code, 7);
    ck_assert_str_eq(completion.failure_text, "told to fail");
    ck_assert_int_eq(gyre_receive(device.queue, &reply, 8, &completion, gyre_in_ms(patiently(2000))),
                     GYRE_OK);
    ck_assert_int_eq(completion.outcome, GYRE_NOT_REPLIED);
    ck_assert_int_eq(gyre_receive(device.queue, &reply, 8, NULL, gyre_in_ms(patiently(2000))), GYRE_FAILED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "code 7: told to fail"));
    ring_device_finish(&device);
}
END_TEST

/* A device whose blocks fell apart, say: what became of the message is not known, and that is what is told. */
START_TEST(outcomes_that_are_none_become_failures_that_say_so)
{
    static const uint32_t odd[] = {0, 6, 7, 8, UINT32_MAX};
    gyre_completion completion;
    gyre_view views[8];
    uint64_t request[2] = {ODD_WORD}, reply[2];
    char text[64];
    size_t found = 0;
    ring_device_start(&device, ring_options(), 2);
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        request[1] = odd[i];
        snprintf(text, sizeof text, "the device told no outcome, but %u", odd[i]);
        ck_assert_int_eq(gyre_send(device.queue, request, 16, NULL, GYRE_NO_WAIT), GYRE_OK);
        ck_assert_int_eq(gyre_receive(device.queue, reply, 16, &completion, gyre_in_ms(patiently(2000))),
                         GYRE_OK);
        ck_assert_int_eq(completion.outcome, GYRE_HANDLER_FAILED);
        ck_assert_int_eq(completion.failure_code, GYRE_FAILURE_OUTCOME);
        ck_assert_str_eq(completion.failure_text, text);
        ck_assert_int_eq(gyre_call(device.queue, request, 16, reply, 16, NULL, gyre_in_ms(patiently(2000))),
                         GYRE_FAILED);
        ck_assert_ptr_nonnull(strstr(gyre_error_text(), text));
        ck_assert_int_eq(gyre_send(device.queue, request, 16, NULL, GYRE_NO_WAIT), GYRE_OK);
        ck_assert_int_eq(gyre_peek(device.queue, views, 8, &found, gyre_in_ms(patiently(2000))), GYRE_OK);
        ck_assert_int_eq(views[0].outcome, GYRE_HANDLER_FAILED);
        ck_assert_str_eq(((const gyre_failure *)views[0].reply)->text, text);
        ck_assert_uint_le(views[0].length, 16);
        ck_assert_int_eq(gyre_release_views(device.queue, found), GYRE_OK);
    }
    ring_device_finish(&device);
}
END_TEST

START_TEST(batches_stop_before_a_failure_that_nobody_would_see)
{
    uint64_t replies[4];
    size_t received = 0;
    ring_device_start(&device, ring_options(), 1);
    ring_device_send(&device, 1);
    ring_device_send(&device, 2);
    ring_device_send(&device, FAIL_WORD);
    ring_device_send(&device, 3);
    while (gyre_queue_outstanding(device.queue))
        ;
    ck_assert_int_eq(gyre_receive_batch(device.queue, replies, 8, 4, NULL, &received, GYRE_NO_WAIT), GYRE_OK);
    ck_assert_uint_eq(received, 2);
    ck_assert_int_eq(gyre_receive_batch(device.queue, replies, 8, 4, NULL, &received, GYRE_NO_WAIT),
                     GYRE_FAILED);
    ck_assert_uint_eq(received, 1);
    ck_assert_int_eq(gyre_receive_batch(device.queue, replies, 8, 4, NULL, &received, GYRE_NO_WAIT), GYRE_OK);
    ck_assert_uint_eq(received, 1);
    ck_assert_uint_eq(replies[0], 4);
    ring_device_finish(&device);
}
END_TEST

START_TEST(wrong_sizes_are_refused_with_both_numbers)
{
    uint64_t words[2] = {0};
    ring_device_start(&device, ring_options(), 1);
    ck_assert_int_eq(gyre_send(device.queue, words, 16, NULL, GYRE_NO_WAIT), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "requests of 8 bytes, found a request of 16"));
    ck_assert_int_eq(gyre_call(device.queue, words, 8, words, 4, NULL, GYRE_NO_WAIT), GYRE_INVALID);
    ring_device_send(&device, 1);
    ck_assert_int_eq(gyre_receive(device.queue, words, 4, NULL, gyre_in_ms(patiently(2000))), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "8 bytes and the caller's buffer 4"));
    ck_assert_uint_eq(ring_device_receive(&device), 2); /* nothing was consumed */
    ring_device_finish(&device);
}
END_TEST

START_TEST(capacities_that_are_no_power_of_two_are_refused)
{
    static const uint64_t wrong[] = {0, 3, 1000, UINT64_MAX};
    gyre_control_region control;
    gyre_queue *queue;
    for (size_t i = 0; i < 4; i++) {
        struct gyre_queue_options options = ring_options();
        options.control = &control;
        options.capacity = wrong[i];
        ck_assert_int_eq(gyre_queue_create(&options, &queue), GYRE_INVALID);
        ck_assert_ptr_null(queue);
    }
}
END_TEST

START_TEST(capacities_beyond_the_memory_are_refused_with_the_numbers)
{
    gyre_control_region control;
    gyre_queue *queue;
    struct gyre_queue_options options = ring_options();
    options.control = &control;
    options.request_size = options.reply_size = 65536;
    for (options.capacity = UINT64_C(1) << 30; options.capacity; options.capacity <<= 8) {
        ck_assert_int_eq(gyre_queue_create(&options, &queue), GYRE_EXHAUSTED);
        ck_assert_ptr_null(queue);
    }
}
END_TEST

static void fill_held_queue(gyre_full_policy policy)
{
    struct gyre_queue_options options = ring_options();
    options.policy = policy;
    ring_device_start(&device, options, 1);
    ring_device_hold(&device, true);
    for (uint64_t i = 0; i < options.capacity; i++)
        ring_device_send(&device, i);
}

START_TEST(full_queue_blocks_until_the_deadline)
{
    uint64_t number = 99;
    fill_held_queue(GYRE_FULL_BLOCK);
    ck_assert_int_eq(gyre_send(device.queue, &number, 8, NULL, GYRE_NO_WAIT), GYRE_AGAIN);
    uint64_t before = gyre_now_ns();
    ck_assert_int_eq(gyre_send(device.queue, &number, 8, NULL, gyre_in_ms(30)), GYRE_TIMEOUT);
    ck_assert_uint_ge(gyre_now_ns() - before, 29000000);
    ck_assert_uint_eq(ring_device_stats(&device).rejected, 2);
    ring_device_hold(&device, false);
    ck_assert_uint_eq(ring_device_receive(&device), 1);
    ring_device_send(&device, number);
    ring_device_finish(&device);
}
END_TEST

static void *send_for_ever(void *queue)
{
    const uint64_t number = 99;
    ck_assert_int_eq(gyre_send(queue, &number, 8, NULL, GYRE_FOREVER), GYRE_LOST);
    return NULL;
}

/* Nobody rings: neither the device, which is dead, nor a receiver. */
START_TEST(who_waits_for_room_learns_that_the_device_died)
{
    pthread_t sender;
    fill_held_queue(GYRE_FULL_BLOCK);
    unit_start(&sender, send_for_ever, device.queue);
    while (!__atomic_load_n(&device.queue->state.credit_waiters, __ATOMIC_ACQUIRE))
        sched_yield();
    __atomic_store_n(&device.control->device.lost, 1, __ATOMIC_RELEASE);
    pthread_join(sender, NULL);
    ring_device_finish(&device);
}
END_TEST

/* Told before it is sent: the handler would have worked for nobody. */
START_TEST(a_call_without_room_for_the_reply_is_not_sent)
{
    const uint64_t number = 1;
    ring_device_start(&device, ring_options(), 1);
    ck_assert_int_eq(gyre_call(device.queue, &number, 8, NULL, 0, NULL, GYRE_FOREVER), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "have up to 8 bytes, and the caller's buffer 0"));
    ck_assert_uint_eq(ring_device_stats(&device).sent, 0);
    ring_device_finish(&device);
}
END_TEST

START_TEST(full_queue_rejects_at_once)
{
    uint64_t number = 99;
    fill_held_queue(GYRE_FULL_REJECT);
    ck_assert_int_eq(gyre_send(device.queue, &number, 8, NULL, GYRE_FOREVER), GYRE_AGAIN);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "queue 'test' is full: 8 messages"));
    ring_device_finish(&device);
}
END_TEST

/* What was taken before its turn is under way no more, and its place is not free yet. */
START_TEST(full_queue_tells_of_places_that_are_kept)
{
    struct gyre_queue_options options = ring_options();
    uint64_t word = 0;
    options.capacity = 4;
    options.header_size = sizeof(gyre_header);
    options.policy = GYRE_FULL_REJECT;
    ring_device_start(&device, options, 1);
    for (uint64_t i = 1; i <= 4; i++) {
        const gyre_header header = {.correlation = i};
        ck_assert_int_eq(gyre_send_with(device.queue, &i, 8, &header, NULL, gyre_in_ms(patiently(2000))),
                         GYRE_OK);
    }
    for (uint64_t i = 2; i <= 4; i++)
        ck_assert_int_eq(gyre_receive_for(device.queue, i, &word, 8, NULL, NULL, gyre_in_ms(patiently(2000))),
                         GYRE_OK);
    ck_assert_int_eq(gyre_send(device.queue, &word, 8, NULL, GYRE_FOREVER), GYRE_AGAIN);
    ck_assert_ptr_nonnull(
        strstr(gyre_error_text(), "is full: of its 4 places 3 are kept by messages that were taken"));
    ck_assert_uint_eq(ring_device_receive(&device), 2);
    ck_assert_int_eq(gyre_send(device.queue, &word, 8, NULL, GYRE_FOREVER), GYRE_OK);
    ring_device_finish(&device);
}
END_TEST

START_TEST(full_queue_of_one_slot_counts_one_message)
{
    struct gyre_queue_options options = ring_options();
    options.capacity = 1;
    options.policy = GYRE_FULL_REJECT;
    ring_device_start(&device, options, 1);
    ring_device_hold(&device, true);
    ring_device_send(&device, 1);
    ck_assert_int_eq(gyre_send(device.queue, &options.capacity, 8, NULL, GYRE_FOREVER), GYRE_AGAIN);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "queue 'test' is full: 1 message is under way;"));
    ring_device_finish(&device);
}
END_TEST

START_TEST(full_queue_drops_the_newest_and_counts_it)
{
    uint64_t number = 99;
    fill_held_queue(GYRE_FULL_DROP_NEWEST);
    ck_assert_int_eq(gyre_send(device.queue, &number, 8, NULL, GYRE_FOREVER), GYRE_DROPPED);
    ck_assert_uint_eq(ring_device_stats(&device).dropped, 1);
    ck_assert_uint_eq(ring_device_stats(&device).sent, 8);
    ring_device_finish(&device);
}
END_TEST

START_TEST(an_abandoned_queue_lets_nobody_wait)
{
    uint64_t word = 1;
    ring_device_start(&device, ring_options(), 1);
    ring_device_send(&device, 1);
    ck_assert_uint_eq(ring_device_receive(&device), 2);
    ring_device_hold(&device, true);
    ring_device_send(&device, 2);
    gyre_queue_abandon(device.queue);
    ck_assert_int_eq(gyre_receive(device.queue, &word, 8, NULL, GYRE_FOREVER), GYRE_CLOSED);
    ck_assert_int_eq(gyre_send(device.queue, &word, 8, NULL, GYRE_FOREVER), GYRE_CLOSED);
    ck_assert_int_eq(gyre_call(device.queue, &word, 8, &word, 8, NULL, GYRE_FOREVER), GYRE_CLOSED);
    ring_device_finish(&device);
}
END_TEST

/* A wait at one queue and a wait for it in a group end with the same status and the same sentence. */
static void ck_same_end(gyre_status expected, const char *words)
{
    const uint32_t closing = 0;
    const struct gyre_queue_group group = {&device.queue, 1, &closing};
    char sentence[256];
    uint64_t word;
    ck_assert_int_eq(gyre_receive(device.queue, &word, 8, NULL, gyre_in_ms(patiently(2000))), expected);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), words));
    snprintf(sentence, sizeof sentence, "all 1 rings ended: %s", gyre_error_text());
    ck_assert_int_eq(gyre_queue_wait_any(&group, gyre_in_ms(patiently(2000))), expected);
    ck_assert_str_eq(gyre_error_text(), sentence);
}

START_TEST(a_wait_for_several_rings_says_why_they_ended)
{
    ring_device_start(&device, ring_options(), 1);
    gyre_queue_close_sends(device.queue);
    ck_same_end(GYRE_CLOSED, "is closed, and no request is under way");
    memcpy(device.control->device.lost_why, "too hot", sizeof "too hot");
    __atomic_store_n(&device.control->device.lost, 1, __ATOMIC_RELEASE);
    ck_same_end(GYRE_LOST, "died (too hot), and its kernel with it");
    gyre_queue_set_lost_why(device.queue, "the server has no kernel 'x'");
    gyre_queue_orphan(device.queue);
    ck_same_end(GYRE_LOST, "is lost: the server has no kernel 'x'");
    gyre_queue_misuse(device.queue);
    ck_same_end(GYRE_INVALID, "two threads used one side of");
    ring_device_finish(&device);
}
END_TEST

/* A completion is there that another thread's peek holds: nobody waits for the end of that peek once the server is lost. */
START_TEST(a_peek_hides_no_end_from_a_wait_for_several)
{
    gyre_wish wish = {.wants = GYRE_WISH_COMPLETION};
    gyre_view view;
    uint64_t word;
    size_t found = 0;
    ring_device_start(&device, ring_options(), 1);
    wish.queue = device.queue;
    ring_device_send(&device, 1);
    ck_assert_int_eq(gyre_peek(device.queue, &view, 1, &found, gyre_in_ms(patiently(2000))), GYRE_OK);
    ck_assert_int_eq(gyre_wait_any(&wish, 1, &found, gyre_in_ms(20)), GYRE_TIMEOUT);
    gyre_queue_orphan(device.queue);
    ck_assert_int_eq(gyre_receive(device.queue, &word, 8, NULL, gyre_in_ms(patiently(2000))), GYRE_LOST);
    ck_assert_int_eq(gyre_wait_any(&wish, 1, &found, gyre_in_ms(patiently(2000))), GYRE_OK);
    ck_assert(found == 1 && wish.ready == GYRE_WISH_ENDED);
    ck_assert_int_eq(gyre_release_views(device.queue, 1), GYRE_OK);
    ring_device_finish(&device);
}
END_TEST

START_TEST(late_replies_of_calls_are_stepped_over)
{
    uint64_t request = 1, reply = 0;
    ring_device_start(&device, ring_options(), 1);
    ring_device_hold(&device, true);
    ck_assert_int_eq(gyre_call(device.queue, &request, 8, &reply, 8, NULL, gyre_in_ms(10)), GYRE_TIMEOUT);
    ring_device_send(&device, 41);
    ring_device_hold(&device, false);
    ck_assert_uint_eq(ring_device_receive(&device), 42);
    ck_assert_uint_eq(ring_device_stats(&device).abandoned, 1);
    ck_assert_uint_eq(ring_device_stats(&device).received, 1);
    ring_device_finish(&device);
}
END_TEST

START_TEST(a_queue_full_of_abandoned_calls_recovers)
{
    uint64_t request = 1, reply = 0;
    ring_device_start(&device, ring_options(), 1);
    ring_device_hold(&device, true);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(gyre_call(device.queue, &request, 8, &reply, 8, NULL, gyre_in_ms(1)), GYRE_TIMEOUT);
    ck_assert_int_eq(gyre_call(device.queue, &request, 8, &reply, 8, NULL, gyre_in_ms(1)), GYRE_TIMEOUT);
    ring_device_hold(&device, false);
    ck_assert_int_eq(gyre_call(device.queue, &request, 8, &reply, 8, NULL, gyre_in_ms(patiently(2000))),
                     GYRE_OK);
    ck_assert_uint_eq(reply, 2);
    ck_assert_uint_eq(ring_device_stats(&device).abandoned, 8);
    ring_device_finish(&device);
}
END_TEST

START_TEST(reserve_and_commit_send_without_copies)
{
    void *requests = NULL;
    size_t stride = 0, count = 5;
    ring_device_start(&device, ring_options(), 1);
    ck_assert_int_eq(gyre_reserve(device.queue, &requests, &stride, &count, GYRE_NO_WAIT), GYRE_OK);
    ck_assert_uint_eq(count, 5);
    ck_assert_uint_eq((uintptr_t)requests % 16, 0);
    for (size_t i = 0; i < count; i++)
        *(uint64_t *)(void *)((char *)requests + i * stride) = i * 3;
    uint64_t number = 1;
    ck_assert_int_eq(gyre_send(device.queue, &number, 8, NULL, GYRE_NO_WAIT),
                     GYRE_AGAIN); /* the room is reserved */
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "has a reservation that was not committed yet"));
    ck_assert_int_eq(gyre_commit(device.queue, 6), GYRE_INVALID);
    ck_assert_int_eq(gyre_commit(device.queue, 4), GYRE_OK);
    for (uint64_t i = 0; i < 4; i++)
        ck_assert_uint_eq(ring_device_receive(&device), i * 3 + 1);
    ck_assert_int_eq(gyre_commit(device.queue, 1), GYRE_INVALID);
    count = 100;
    ck_assert_int_eq(gyre_reserve(device.queue, &requests, &stride, &count, GYRE_NO_WAIT), GYRE_OK);
    ck_assert_uint_eq(count, 4); /* up to the end of the ring */
    ck_assert_int_eq(gyre_commit(device.queue, 0), GYRE_OK);
    ring_device_send(&device, 5);
    ck_assert_uint_eq(ring_device_receive(&device), 6);
    ring_device_finish(&device);
}
END_TEST

/* Its cursor is ahead of what was sent then, and who looks for what expired is done all the same. */
START_TEST(a_device_that_answers_what_was_not_sent_holds_nobody_up)
{
    struct gyre_queue_options options = ring_options();
    options.header_size = sizeof(gyre_header);
    ring_device_start(&device, options, 1);
    ring_device_hold(&device, true);
    for (uint64_t index = 0; index < 3; index++) {
        gyre_slot *slot = gyre_reply_slot(gyre_ring_of(device.queue), index);
        slot->length = 8;
        slot->info = GYRE_OUTCOME_REPLY;
        __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE);
    }
    for (int i = 0; i < 3; i++)
        ring_device_receive(&device);
    const uint64_t request = 1;
    const gyre_header header = {.deadline_ns = gyre_in_ms(10)};
    ck_assert_int_eq(gyre_send_with(device.queue, &request, sizeof request, &header, NULL, GYRE_NO_WAIT),
                     GYRE_OK);
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    for (int i = 0; i < 3; i++)
        ring_device_send(&device, 1);
    ring_device_hold(&device, false);
    ck_assert_uint_eq(ring_device_receive(&device), 2);
    ring_device_finish(&device);
}
END_TEST

START_TEST(peek_and_release_receive_without_copies)
{
    gyre_view views[8];
    size_t found = 0;
    uint64_t reply;
    ring_device_start(&device, ring_options(), 1);
    ck_assert_int_eq(gyre_peek(device.queue, views, 8, &found, GYRE_NO_WAIT), GYRE_AGAIN);
    for (uint64_t i = 0; i < 4; i++)
        ring_device_send(&device, i);
    while (gyre_queue_outstanding(device.queue))
        ;
    ck_assert_int_eq(gyre_peek(device.queue, views, 8, &found, GYRE_NO_WAIT), GYRE_OK);
    ck_assert_uint_eq(found, 4);
    for (uint64_t i = 0; i < 4; i++)
        ck_assert_uint_eq(*(const uint64_t *)views[i].reply, i + 1);
    ck_assert_int_eq(gyre_receive(device.queue, &reply, 8, NULL, gyre_in_ms(5)),
                     GYRE_TIMEOUT); /* being peeked */
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "has a peek that was not released yet"));
    ck_assert_int_eq(gyre_release_views(device.queue, 3), GYRE_OK);
    ck_assert_uint_eq(ring_device_receive(&device), 4);
    ck_assert_int_eq(gyre_release_views(device.queue, 1), GYRE_INVALID);
    ring_device_finish(&device);
}
END_TEST

START_TEST(closing_completes_what_is_left_as_unhandled)
{
    gyre_completion completion;
    uint64_t number = 3;
    fill_held_queue(GYRE_FULL_BLOCK);
    gyre_queue_close_sends(device.queue);
    ck_assert_int_eq(gyre_send(device.queue, &number, 8, NULL, GYRE_FOREVER), GYRE_CLOSED);
    ring_device_stop(&device);
    ck_assert_uint_eq(gyre_queue_complete_unhandled(device.queue), 8);
    for (uint64_t i = 0; i < 8; i++) {
        ck_assert_int_eq(gyre_receive(device.queue, &number, 8, &completion, GYRE_NO_WAIT), GYRE_OK);
        ck_assert_int_eq(completion.outcome, GYRE_WAS_UNHANDLED);
        ck_assert_uint_eq(completion.index, i);
    }
    ck_assert_int_eq(gyre_receive(device.queue, &number, 8, &completion, gyre_in_ms(patiently(1000))),
                     GYRE_CLOSED);
    ring_device_finish(&device);
}
END_TEST

/* Of a program that serves: it saw that request 0 is not answered and slept, while the client got the reply and sent
 * eight more. To find nothing under way then would end a drain. */
START_TEST(what_a_client_sends_while_somebody_looks_is_under_way)
{
    struct gyre_queue_options options = ring_options();
    options.lent = true;
    ring_device_start(&device, options, 1);
    for (uint64_t i = 0; i < 8; i++)
        __atomic_store_n(&gyre_request_slot(gyre_ring_of(device.queue), i)->sequence, i + 9,
                         __ATOMIC_RELEASE);
    ck_assert_uint_eq(gyre_queue_outstanding(device.queue), 8);
    ring_device_finish(&device);
}
END_TEST

START_TEST(the_descriptor_is_readable_exactly_while_completions_wait)
{
    int descriptor = -1;
    ring_device_start(&device, ring_options(), 1);
    ck_assert_int_eq(gyre_queue_descriptor(device.queue, &descriptor), GYRE_OK);
    for (int round = 0; round < 200; round++) {
        ck_assert_int_eq(readable(descriptor, 0), 0);
        ring_device_send(&device, 1);
        ring_device_send(&device, 2);
        ck_assert_int_eq(readable(descriptor, 2000), 1);
        ring_device_receive(&device);
        ck_assert_int_eq(readable(descriptor, 2000), 1);
        ring_device_receive(&device);
    }
    gyre_queue_close_sends(device.queue);
    ck_assert_int_eq(readable(descriptor, 2000), 1); /* so that the loop learns of the end */
    ring_device_finish(&device);
}
END_TEST

START_TEST(the_descriptor_is_readable_when_the_device_dies)
{
    int descriptor = -1;
    uint64_t reply = 0;
    ring_device_start(&device, ring_options(), 1);
    ck_assert_int_eq(gyre_queue_descriptor(device.queue, &descriptor), GYRE_OK);
    __atomic_store_n(&device.control->device.lost, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&gyre_ring_of(device.queue)->shared->device.bell, INT_MAX);
    ck_assert_int_eq(readable(descriptor, 2000), 1);
    ck_assert_int_eq(gyre_receive(device.queue, &reply, sizeof reply, NULL, gyre_in_ms(patiently(2000))),
                     GYRE_LOST);
    ring_device_finish(&device);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ring");
    TCase *tcase = tcase_create("one thread");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, replies_come_in_order_over_many_laps);
    tcase_add_test(tcase, marks_share_no_line_with_the_heap);
    tcase_add_test(tcase, sequences_cross_the_32_bit_wrap);
    tcase_add_test(tcase, completions_without_a_request_do_not_count);
    tcase_add_test(tcase, messages_of_all_sizes_keep_every_byte);
    tcase_add_test(tcase, failures_and_silence_are_told_apart);
    tcase_add_test(tcase, outcomes_that_are_none_become_failures_that_say_so);
    tcase_add_test(tcase, batches_stop_before_a_failure_that_nobody_would_see);
    tcase_add_test(tcase, wrong_sizes_are_refused_with_both_numbers);
    tcase_add_test(tcase, capacities_that_are_no_power_of_two_are_refused);
    tcase_add_test(tcase, capacities_beyond_the_memory_are_refused_with_the_numbers);
    tcase_add_test(tcase, full_queue_blocks_until_the_deadline);
    tcase_add_test(tcase, who_waits_for_room_learns_that_the_device_died);
    tcase_add_test(tcase, full_queue_rejects_at_once);
    tcase_add_test(tcase, a_call_without_room_for_the_reply_is_not_sent);
    tcase_add_test(tcase, full_queue_tells_of_places_that_are_kept);
    tcase_add_test(tcase, full_queue_of_one_slot_counts_one_message);
    tcase_add_test(tcase, full_queue_drops_the_newest_and_counts_it);
    tcase_add_test(tcase, an_abandoned_queue_lets_nobody_wait);
    tcase_add_test(tcase, a_wait_for_several_rings_says_why_they_ended);
    tcase_add_test(tcase, a_peek_hides_no_end_from_a_wait_for_several);
    tcase_add_test(tcase, late_replies_of_calls_are_stepped_over);
    tcase_add_test(tcase, a_queue_full_of_abandoned_calls_recovers);
    tcase_add_test(tcase, reserve_and_commit_send_without_copies);
    tcase_add_test(tcase, a_device_that_answers_what_was_not_sent_holds_nobody_up);
    tcase_add_test(tcase, peek_and_release_receive_without_copies);
    tcase_add_test(tcase, closing_completes_what_is_left_as_unhandled);
    tcase_add_test(tcase, what_a_client_sends_while_somebody_looks_is_under_way);
    tcase_add_test(tcase, the_descriptor_is_readable_exactly_while_completions_wait);
    tcase_add_test(tcase, the_descriptor_is_readable_when_the_device_dies);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, ring_thread_cases());
    suite_add_tcase(suite, ring_level_cases());
    suite_add_tcase(suite, ring_drop_cases());
    return unit_run(suite);
}
