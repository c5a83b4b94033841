/* SPDX-License-Identifier: Apache-2.0 */
/* Express lines: when requests are written there, and what becomes of replies that come that way. The device is the
 * test itself, which does one step after the other. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "core/queue/resume.h"
#include "core/queue/end.h"
#include "core/queue/life.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/queue/progress.h"
#include "core/queue/wait.h"
#include "core/ring/express.h"
#include "core/ring/ring_message.h"
#include "core/ring/ring.h"
#include "core/stages/make.h"
#include "ring_device.h"
#include "unit/unit.h"
#include "../../patience.h"

enum { LARGEST = GYRE_EXPRESS_MOST, AT_ONCE = 8 };

static gyre_control_region *control;
static gyre_queue *queue;

static void begin_with(uint32_t size, uint64_t capacity)
{
    struct gyre_queue_options options = ring_options();
    control = aligned_alloc(GYRE_LINE_SIZE, sizeof *control);
    memset(control, 0, sizeof *control);
    options.control = control;
    options.capacity = capacity;
    options.request_size = options.reply_size = size;
    options.express = options.express_replies = true;
    options.device_wakes =
        false; /* as with the devices that know these lines: who sleeps looks now and then */
    ck_assert(gyre_express_suits(&options));
    ck_assert_int_eq(gyre_queue_create(&options, &queue), GYRE_OK);
}

static void begin(uint32_t size)
{
    begin_with(size, AT_ONCE);
}

static void end(void)
{
    gyre_queue_destroy(queue);
    free(control);
}

static void fill(unsigned char *message, uint32_t size, unsigned seed)
{
    for (uint32_t i = 0; i < size; i++)
        message[i] = (unsigned char)(seed * 31 + i * 7 + i / 251);
}

/* ---- the device's side, from the text of ring_layout.h ---- */

/* Byte `at` of what lines hold of a slot, from its length on. */
static unsigned char *line_byte(gyre_express_line *lines, uint32_t at)
{
    return (unsigned char *)lines[at / 56].words + at % 56;
}

static bool lines_hold(uint64_t index, const unsigned char *request, uint32_t size)
{
    uint32_t length;
    memcpy(&length, line_byte(gyre_ring_of(queue)->express, 0), sizeof length);
    for (uint32_t line = 0; line < GYRE_EXPRESS_LINES(size); line++)
        if (gyre_ring_of(queue)->express[line].sequence != index + 1)
            return false;
    for (uint32_t i = 0; i < size; i++)
        if (*line_byte(gyre_ring_of(queue)->express, 8 + i) != request[i])
            return false;
    return length == size;
}

static uint32_t lines_info(void)
{
    uint32_t info;
    memcpy(&info, line_byte(gyre_ring_of(queue)->express, 4), sizeof info);
    return info;
}

/* Lines [first, end) of a reply. */
static void answer_lines(uint64_t index, const unsigned char *reply, uint32_t size, uint32_t first,
                         uint32_t end)
{
    const uint32_t about[] = {size, GYRE_OUTCOME_REPLY};
    gyre_express_line *lines = gyre_ring_of(queue)->express_replies;
    for (uint32_t line = end; line-- > first;) { /* a device has no order of lines */
        for (uint32_t i = line * 56; i < line * 56 + 56 && i < 8 + size; i++)
            *line_byte(lines, i) = i < 8 ? ((const unsigned char *)about)[i] : reply[i - 8];
        __atomic_store_n(&lines[line].sequence, index + 1, __ATOMIC_RELEASE);
    }
}

static void answer(uint64_t index, const unsigned char *reply, uint32_t size)
{
    answer_lines(index, reply, size, 0, GYRE_EXPRESS_LINES(size));
}

static void answer_in_slot(uint64_t index, const unsigned char *reply, uint32_t size)
{
    gyre_slot *slot = gyre_reply_slot(gyre_ring_of(queue), index);
    memcpy(slot + 1, reply, size);
    slot->length = size;
    slot->info = GYRE_OUTCOME_REPLY;
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE);
}

static void await_request(uint64_t index)
{
    while (__atomic_load_n(&gyre_request_slot(gyre_ring_of(queue), index)->sequence, __ATOMIC_ACQUIRE) !=
           index + 1)
        sched_yield();
}

/* ---- callers ---- */

struct caller {
    pthread_t thread;
    uint32_t size;
    unsigned seed;
    uint64_t deadline_ns;
    gyre_status status;
    gyre_completion completion;
    uint32_t returned; /* atomic */
    unsigned char reply[LARGEST];
};

static void *run_call(void *argument)
{
    struct caller *caller = argument;
    unsigned char request[LARGEST];
    fill(request, caller->size, caller->seed);
    caller->status = gyre_call(queue, request, caller->size, caller->reply, caller->size, &caller->completion,
                               caller->deadline_ns);
    __atomic_store_n(&caller->returned, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void call(struct caller *caller, uint32_t size, unsigned seed)
{
    *caller = (struct caller){.size = size, .seed = seed, .deadline_ns = gyre_in_ms(patiently(20000))};
    unit_start(&caller->thread, run_call, caller);
}

static void must_return(struct caller *caller, uint64_t index, const unsigned char *reply)
{
    pthread_join(caller->thread, NULL);
    ck_assert_int_eq(caller->status, GYRE_OK);
    ck_assert_uint_eq(caller->completion.index, index);
    ck_assert_int_eq(caller->completion.outcome, GYRE_REPLIED);
    ck_assert_uint_eq(caller->completion.length, caller->size);
    ck_assert_mem_eq(caller->reply, reply, caller->size);
}

/* ---- requests ---- */

START_TEST(a_lone_request_is_in_express_lines_too)
{
    static const uint32_t sizes[] = {8, 40, 48, 56, 104, 200, 1000, 1024, 2040, 2048};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char request[LARGEST], reply[LARGEST];
        begin(sizes[i]);
        for (uint64_t index = 0; index < 3 * AT_ONCE; index++) {
            fill(request, sizes[i], (unsigned)index);
            ck_assert_int_eq(gyre_send(queue, request, sizes[i], NULL, gyre_in_ms(patiently(1000))), GYRE_OK);
            ck_assert(lines_hold(index, request, sizes[i]));
            ck_assert_uint_eq(lines_info(), 0); /* nobody awaits this very reply */
            ck_assert_mem_eq(gyre_request_slot(gyre_ring_of(queue), index) + 1, request, sizes[i]);
            answer_in_slot(index, request, sizes[i]);
            ck_assert_int_eq(gyre_receive(queue, reply, sizes[i], NULL, gyre_in_ms(patiently(1000))),
                             GYRE_OK);
        }
        end();
    }
}
END_TEST

START_TEST(what_is_built_in_its_place_is_in_express_lines_too)
{
    unsigned char expected[200];
    void *request;
    size_t stride, count = 1;
    begin(sizeof expected);
    ck_assert_int_eq(gyre_reserve(queue, &request, &stride, &count, gyre_in_ms(patiently(1000))), GYRE_OK);
    fill(expected, sizeof expected, 5);
    memcpy(request, expected, sizeof expected);
    ck_assert_int_eq(gyre_commit(queue, 1), GYRE_OK);
    ck_assert(lines_hold(0, expected, sizeof expected));
    end();
}
END_TEST

/* Lines belong to one request until its reply was received: the device may be reading them. */
START_TEST(who_is_not_alone_has_a_slot_alone)
{
    unsigned char request[200], other[200], reply[200];
    begin(sizeof request);
    fill(request, sizeof request, 1);
    fill(other, sizeof other, 2);
    ck_assert_int_eq(gyre_send(queue, request, sizeof request, NULL, gyre_in_ms(patiently(1000))), GYRE_OK);
    ck_assert_int_eq(gyre_send(queue, other, sizeof other, NULL, gyre_in_ms(patiently(1000))), GYRE_OK);
    ck_assert(lines_hold(0, request, sizeof request));
    answer_in_slot(0, request, sizeof request);
    answer_in_slot(1, other, sizeof other);
    ck_assert_int_eq(gyre_receive(queue, reply, sizeof reply, NULL, gyre_in_ms(patiently(1000))), GYRE_OK);
    ck_assert_int_eq(gyre_send(queue, other, sizeof other, NULL, gyre_in_ms(patiently(1000))), GYRE_OK);
    ck_assert(lines_hold(0, request, sizeof request));
    ck_assert_int_eq(gyre_receive(queue, reply, sizeof reply, NULL, gyre_in_ms(patiently(1000))), GYRE_OK);
    answer_in_slot(2, other, sizeof other);
    ck_assert_int_eq(gyre_receive(queue, reply, sizeof reply, NULL, gyre_in_ms(patiently(1000))), GYRE_OK);
    ck_assert_int_eq(gyre_send(queue, other, sizeof other, NULL, gyre_in_ms(patiently(1000))), GYRE_OK);
    ck_assert(lines_hold(3, other, sizeof other));
    end();
}
END_TEST

START_TEST(a_hidden_request_is_not_in_lines)
{
    unsigned char request[200];
    begin(sizeof request);
    fill(request, sizeof request, 1);
    ck_assert_int_eq(gyre_send(queue, request, sizeof request, NULL, gyre_in_ms(patiently(1000))), GYRE_OK);
    gyre_queue_hide(queue, 0);
    ck_assert(!lines_hold(0, request, sizeof request));
    end();
}
END_TEST

/* ---- replies ---- */

START_TEST(a_call_takes_its_reply_out_of_lines)
{
    static const uint32_t sizes[] = {56, 104, 200, 1000, 1024, 2040, 2048};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct caller caller;
        unsigned char reply[LARGEST];
        begin(sizes[i]);
        for (uint64_t index = 0; index < 3 * AT_ONCE; index++) {
            call(&caller, sizes[i], (unsigned)index);
            await_request(index);
            ck_assert_uint_eq(lines_info(), GYRE_EXPRESS_AWAITED);
            fill(reply, sizes[i], 1000 + (unsigned)index);
            answer(index, reply, sizes[i]);
            must_return(&caller, index, reply);
            ck_assert_uint_eq(gyre_received(queue), index + 1);
            ck_assert(gyre_reply_in_slot(gyre_ring_of(queue), index)); /* for those who look at slots alone */
        }
        end();
    }
}
END_TEST

START_TEST(the_only_slot_is_used_again_and_again)
{
    struct caller caller;
    unsigned char reply[200];
    begin_with(sizeof reply, 1);
    for (uint64_t index = 0; index < 100; index++) {
        call(&caller, sizeof reply, (unsigned)index);
        await_request(index);
        fill(reply, sizeof reply, 7 + (unsigned)index);
        if (index % 3)
            answer(index, reply, sizeof reply);
        else
            answer_in_slot(index, reply, sizeof reply);
        must_return(&caller, index, reply);
    }
    end();
}
END_TEST

/* Each line by itself, and all of them but the first. */
START_TEST(a_reply_is_there_when_each_of_its_lines_is)
{
    enum { SIZE = 1024, LINES = GYRE_EXPRESS_LINES(SIZE) };
    struct caller caller;
    unsigned char reply[SIZE];
    begin(SIZE);
    for (uint64_t index = 0; index < LINES; index++) {
        call(&caller, SIZE, (unsigned)index);
        await_request(index);
        fill(reply, SIZE, 50 + (unsigned)index);
        const uint32_t first = (uint32_t)index, end = index ? first + 1 : LINES - 1;
        answer_lines(index, reply, SIZE, 0, first);
        answer_lines(index, reply, SIZE, end, LINES);
        ck_assert(!gyre_reply_ready(gyre_ring_of(queue), index));
        gyre_nap(gyre_in_ms(1));
        ck_assert(!__atomic_load_n(&caller.returned, __ATOMIC_ACQUIRE));
        answer_lines(index, reply, SIZE, first, end);
        must_return(&caller, index, reply);
    }
    end();
}
END_TEST

/* Nobody takes it, and whoever asks what is under way is told that it was answered. */
START_TEST(a_reply_to_a_call_that_was_given_up_counts)
{
    struct caller caller = {.size = 200, .deadline_ns = gyre_in_ms(5)};
    unsigned char reply[200];
    gyre_queue_stats stats = {.size = sizeof stats};
    begin(sizeof reply);
    unit_start(&caller.thread, run_call, &caller);
    pthread_join(caller.thread, NULL);
    ck_assert_int_eq(caller.status, GYRE_TIMEOUT);
    ck_assert_uint_eq(gyre_queue_outstanding(queue), 1);
    fill(reply, sizeof reply, 1);
    answer(0, reply, sizeof reply);
    ck_assert_uint_eq(gyre_queue_outstanding(queue), 0);
    ck_assert_uint_eq(gyre_queue_first_unanswered(queue), 1);
    call(&caller, sizeof reply, 2); /* it is not alone: the slot before is not given back */
    await_request(1);
    ck_assert_uint_eq(gyre_ring_of(queue)->express->sequence, 1);
    answer_in_slot(1, reply, sizeof reply);
    must_return(&caller, 1, reply);
    ck_assert_uint_eq(gyre_received(queue), 2);
    ck_assert_int_eq(gyre_queue_stats_get(queue, &stats), GYRE_OK);
    ck_assert_uint_eq(stats.abandoned, 1);
    end();
}
END_TEST

/* As recovery does, and the end of a kernel: the device has left, and the caller did not look yet. */
START_TEST(what_lies_in_lines_is_an_answer_when_no_device_is_left)
{
    struct caller caller = {.size = 200, .deadline_ns = gyre_in_ms(5)};
    unsigned char reply[200];
    begin(sizeof reply);
    unit_start(&caller.thread, run_call, &caller);
    pthread_join(caller.thread, NULL);
    fill(reply, sizeof reply, 9);
    answer(0, reply, sizeof reply);
    gyre_queue_close_sends(queue);
    ck_assert_uint_eq(gyre_queue_complete_unhandled(queue), 0);
    ck_assert(gyre_reply_in_slot(gyre_ring_of(queue), 0));
    ck_assert_uint_eq(gyre_reply_slot(gyre_ring_of(queue), 0)->info, GYRE_OUTCOME_REPLY);
    ck_assert_mem_eq(gyre_reply_slot(gyre_ring_of(queue), 0) + 1, reply, sizeof reply);
    end();
}
END_TEST

/* Lengths that nobody asked for, as a server could write them: they lead nowhere beyond the caller's memory. */
START_TEST(a_length_out_of_range_is_no_end_of_the_program)
{
    enum { SIZE = 200 };
    struct {
        unsigned char before[64], reply[SIZE], behind[64];
    } memory;
    unsigned char request[SIZE];
    gyre_completion completion;
    begin(SIZE);
    memset(&memory, 0x5a, sizeof memory);
    fill(request, SIZE, 3);
    for (uint32_t line = 0; line < gyre_ring_of(queue)->slots.express_replies; line++)
        gyre_ring_of(queue)->express_replies[line].sequence = 1;
    gyre_ring_of(queue)->express_replies->words[0] = (gyre_u64)GYRE_OUTCOME_REPLY << 32 | 0xffffffffu;
    ck_assert_int_eq(
        gyre_call(queue, request, SIZE, memory.reply, SIZE, &completion, gyre_in_ms(patiently(1000))),
        GYRE_OK);
    ck_assert_uint_le(completion.length, SIZE);
    for (size_t i = 0; i < sizeof memory.before; i++)
        ck_assert(memory.before[i] == 0x5a && memory.behind[i] == 0x5a);
    end();
}
END_TEST

/* ---- which queues ---- */

START_TEST(queues_that_do_more_have_no_lines)
{
    struct gyre_queue_options options = ring_options(), other;
    options.request_size = options.reply_size = 200;
    ck_assert(gyre_express_suits(&options));
#define DIFFERS(member, value)                                                                               \
    other = options;                                                                                         \
    other.member = value;                                                                                    \
    ck_assert(!gyre_express_suits(&other));
    DIFFERS(request_size, GYRE_EXPRESS_MOST + 1)
    DIFFERS(bridged_requests, true)
    DIFFERS(bridged_replies, true)
    DIFFERS(levels, 2)
    DIFFERS(dedup, 16)
    DIFFERS(header_size, 16)
    DIFFERS(timed, true)
    DIFFERS(sealed, true)
#undef DIFFERS
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("express");
    TCase *requests = tcase_create("requests"), *replies = tcase_create("replies");
    tcase_set_timeout(requests, 60);
    tcase_set_timeout(replies, 60);
    tcase_add_test(requests, a_lone_request_is_in_express_lines_too);
    tcase_add_test(requests, what_is_built_in_its_place_is_in_express_lines_too);
    tcase_add_test(requests, who_is_not_alone_has_a_slot_alone);
    tcase_add_test(requests, a_hidden_request_is_not_in_lines);
    tcase_add_test(requests, queues_that_do_more_have_no_lines);
    tcase_add_test(replies, a_call_takes_its_reply_out_of_lines);
    tcase_add_test(replies, the_only_slot_is_used_again_and_again);
    tcase_add_test(replies, a_reply_is_there_when_each_of_its_lines_is);
    tcase_add_test(replies, a_reply_to_a_call_that_was_given_up_counts);
    tcase_add_test(replies, what_lies_in_lines_is_an_answer_when_no_device_is_left);
    tcase_add_test(replies, a_length_out_of_range_is_no_end_of_the_program);
    suite_add_tcase(suite, requests);
    suite_add_tcase(suite, replies);
    return unit_run(suite);
}
