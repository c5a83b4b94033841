/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many messages are timed where they come fast: the runner of a handler, with a clock of its own, and the client behind whose queue
 * it works. Both are the product's.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/queue/life.h"
#include "core/queue/queue.h"
#include "core/ring/layout.h"
#include "core/ring/ring.h"
#include "core/stages/make.h"
#include "core/stages/timing.h"
#include "unit/unit.h"

/* last: its words are others than those of gyre.h */
#define GYRE_TIMED 64
#include <gyre/kernel.h>

enum { BATCH = 256, CAPACITY = 2 * BATCH, OWN_NS = 40 /* by which a pair of looks makes the clock go on */ };

static gyre_control_region *control;
static gyre_queue *queue;
static gyre_cpu_run run;
static gyre_context context;
static gyre_u64 clock_ns, looks, message_ns;

static gyre_u64 look(void)
{
    looks++;
    return clock_ns += OWN_NS / 2;
}

static int handle(const void *request, void *reply, void *state, void *scratch, const gyre_binding *buffers,
                  gyre_context *gyre)
{
    (void)state, (void)scratch, (void)buffers, (void)gyre;
    memcpy(reply, request, sizeof(gyre_u64));
    clock_ns += message_ns;
    return GYRE_OUTCOME_REPLY;
}

static void setup(void)
{
    static const gyre_cpu_services services = {.time_ns = look};
    struct gyre_queue_options options = {.name = "paced",
                                         .capacity = CAPACITY,
                                         .policy = GYRE_FULL_BLOCK,
                                         .request_size = sizeof(gyre_u64),
                                         .reply_size = sizeof(gyre_u64),
                                         .timed = true,
                                         .timed_every = GYRE_TIMED};
    control = aligned_alloc(GYRE_LINE_SIZE, sizeof *control);
    memset(control, 0, sizeof *control);
    options.control = control;
    ck_assert_int_eq(gyre_queue_create(&options, &queue), GYRE_OK);
    const struct gyre_ring *ring = gyre_ring_of(queue);
    unsigned char *region = (unsigned char *)ring->shared;
    context = (gyre_context){.services = &services};
    run = (gyre_cpu_run){.requests = region + ring->slots.request_offset,
                         .replies = region + ring->slots.reply_offset,
                         .mask = CAPACITY - 1,
                         .request_stride = ring->slots.request_stride,
                         .reply_stride = ring->slots.reply_stride,
                         .host = &ring->shared->host,
                         .command = &control->command.command,
                         .context = &context,
                         .stamps = (gyre_stamp *)(void *)(region + ring->slots.stamps_offset)};
    clock_ns = 1000000;
    looks = 0;
}

static void teardown(void)
{
    gyre_queue_destroy(queue);
    free(control);
}

/* Sends, handles and receives so many batches of messages, each of which takes its handler that long. */
static void pass(unsigned batches, gyre_u64 ns)
{
    static const gyre_cpu_sizes sizes = {sizeof(gyre_u64), sizeof(gyre_u64), sizeof(gyre_u64),
                                         sizeof(gyre_u64)};
    gyre_u64 messages[BATCH] = {0};
    size_t count = 0;
    message_ns = ns;
    for (; batches; batches--) {
        ck_assert_int_eq(gyre_send_batch(queue, messages, sizeof *messages, BATCH, &count, 0), GYRE_OK);
        ck_assert_uint_eq(count, BATCH);
        run.limit = BATCH;
        ck_assert_uint_eq(gyre_run_(&run, &sizes, handle), BATCH);
        run.first += BATCH;
        ck_assert_int_eq(gyre_receive_batch(queue, messages, sizeof *messages, BATCH, NULL, &count, 0),
                         GYRE_OK);
        ck_assert_uint_eq(count, BATCH);
    }
}

static uint64_t timed(void)
{
    gyre_queue_stats stats = {.size = sizeof stats};
    ck_assert_int_eq(gyre_queue_stats_get(queue, &stats), GYRE_OK);
    return stats.timed;
}

static uint64_t round_trips(void)
{
    gyre_observe_histogram times[GYRE_OBSERVE_TIMES] = {0};
    uint64_t count = 0;
    ck_assert(gyre_timing_histograms(queue, times));
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++)
        count += times[GYRE_OBSERVE_ROUND_TRIP].buckets[i];
    return count;
}

/* Looks take less than two of a hundred of the time, and those that are timed count for all. */
START_TEST(fast_messages_are_timed_now_and_then)
{
    enum { BATCHES = 400, TURNS = BATCHES * BATCH / GYRE_TIMED };
    const gyre_u64 began_ns = clock_ns;
    pass(BATCHES, 10);
    ck_assert_uint_le(looks / 2 * OWN_NS * 50, clock_ns - began_ns);
    ck_assert_uint_ge(looks / 2 * GYRE_PACE_NS * 2, clock_ns - began_ns);
    ck_assert_uint_le(timed(),
                      TURNS); /* none counts twice, and those behind the last one that was timed not yet */
    ck_assert_uint_ge(timed(), TURNS - 2 * GYRE_PASS_MOST);
    ck_assert_uint_eq(round_trips(), timed());
}
END_TEST

/* The client notes all of them after a pause, behind the last one of before, which was to stand for many. */
START_TEST(messages_after_a_pause_count_once)
{
    enum { STREAMS = 10, BATCHES = 80, TURNS = STREAMS * BATCHES * BATCH / GYRE_TIMED };
    for (int stream = 0; stream < STREAMS; stream++) {
        pass(BATCHES, 10);
        usleep(1000);
    }
    ck_assert_uint_le(timed(), TURNS);
    ck_assert_uint_ge(timed(), TURNS - 2 * GYRE_PASS_MOST);
    ck_assert_uint_eq(round_trips(), timed());
}
END_TEST

START_TEST(slow_messages_are_timed_each_whose_turn_it_is)
{
    enum { BATCHES = 20, TURNS = BATCHES * BATCH / GYRE_TIMED };
    pass(BATCHES, 2 * GYRE_PACE_NS / GYRE_TIMED);
    ck_assert_uint_eq(looks, 2 * TURNS);
    ck_assert_uint_ge(timed(), TURNS / 2); /* the client has another clock, by which they come fast */
}
END_TEST

START_TEST(messages_that_become_slow_are_timed_again)
{
    enum { BATCHES = 40, TURNS = BATCHES * BATCH / GYRE_TIMED };
    pass(BATCHES, 1);
    const gyre_u64 before = looks;
    pass(BATCHES, 2 * GYRE_PACE_NS / GYRE_TIMED);
    ck_assert_uint_ge(looks - before, 2 * (TURNS - GYRE_PASS_MOST));
    ck_assert_uint_ge(timed(), TURNS);
}
END_TEST

/* The client of another program may be of another version, so its messages are timed as ever. */
START_TEST(messages_of_other_programs_are_timed_each_whose_turn_it_is)
{
    enum { BATCHES = 20, TURNS = BATCHES * BATCH / GYRE_TIMED };
    run.foreign = GYRE_FOREIGN_REPLIES;
    pass(BATCHES, 10);
    ck_assert_uint_eq(looks, 2 * TURNS);
}
END_TEST

START_TEST(who_asks_for_times_that_were_not_taken_is_told_so)
{
    unsigned refused = 0;
    pass(40, 10);
    for (gyre_u64 index = run.first - CAPACITY; index != run.first; index += GYRE_TIMED) {
        gyre_timing times = {.size = sizeof times};
        const gyre_status status = gyre_timing_get(queue, index, &times);
        ck_assert(status == GYRE_OK || status == GYRE_UNAVAILABLE);
        if (status == GYRE_OK)
            continue;
        refused++;
        ck_assert_ptr_nonnull(strstr(gyre_error_text(), "so fast that a block times one in 50 us"));
    }
    ck_assert_uint_ge(refused, CAPACITY / GYRE_TIMED / 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pace");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, fast_messages_are_timed_now_and_then);
    tcase_add_test(all, messages_after_a_pause_count_once);
    tcase_add_test(all, slow_messages_are_timed_each_whose_turn_it_is);
    tcase_add_test(all, messages_that_become_slow_are_timed_again);
    tcase_add_test(all, messages_of_other_programs_are_timed_each_whose_turn_it_is);
    tcase_add_test(all, who_asks_for_times_that_were_not_taken_is_told_so);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
