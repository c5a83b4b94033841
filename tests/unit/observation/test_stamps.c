/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The laws of stamps (gyre_trace_stamp, device_clock.h), in histories by chance: what comes after something else has the larger stamp,
 * whatever clocks do; and a stamp is no further from the time than it has to be.
 */
#include <stdbool.h>
#include <string.h>

#include "core/stages/device_clock.h"
#include "gyre/trace.h"
#include "random.h"
#include "unit/unit.h"

static uint64_t state;

static uint64_t below(uint64_t limit)
{
    return random_below(&state, limit);
}

/* ---- processes that exchange messages ---- */

enum { PROCESSES = 5, EVENTS = 300, HISTORIES = 60 };

struct event {
    unsigned process;
    uint64_t stamp, now_ns;
    uint64_t past[PROCESSES]; /* of each process: how many events come before this one, with this one */
    uint64_t latest_ns;       /* the latest time that a clock showed at one of these */
};

struct process {
    gyre_trace trace;
    uint64_t now_ns;
    const struct event *last;
};

static struct event events[EVENTS];

static bool comes_before(const struct event *one, const struct event *other)
{
    return one != other && other->past[one->process] >= one->past[one->process];
}

static void learn_past(struct event *event, const struct event *before)
{
    if (!before)
        return;
    for (unsigned i = 0; i < PROCESSES; i++)
        event->past[i] = before->past[i] > event->past[i] ? before->past[i] : event->past[i];
    event->latest_ns = before->latest_ns > event->latest_ns ? before->latest_ns : event->latest_ns;
}

/* A clock that runs, stands, jumps ahead, and is set back. */
static void let_time_pass(struct process *process)
{
    const uint64_t what = below(20), back = below(20000);
    if (what < 12)
        process->now_ns += below(100);
    else if (what == 12)
        process->now_ns += below(20000);
    else if (what == 13)
        process->now_ns -= process->now_ns > back ? back : 0;
}

/* An event, by the half of them the receipt of what some event sent. */
static void let_happen(struct process *processes, size_t number)
{
    struct event *event = &events[number];
    struct process *process = &processes[below(PROCESSES)];
    const struct event *sent = number && below(2) ? &events[below(number)] : NULL;
    let_time_pass(process);
    *event = (struct event){
        .process = (unsigned)(process - processes), .now_ns = process->now_ns, .latest_ns = process->now_ns};
    learn_past(event, process->last);
    learn_past(event, sent);
    event->past[event->process]++;
    event->stamp = gyre_trace_stamp(&process->trace, process->now_ns, sent ? sent->stamp : 0);
    process->last = event;
}

static uint64_t count_past(const struct event *event)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < PROCESSES; i++)
        sum += event->past[i];
    return sum;
}

START_TEST(what_comes_later_has_the_larger_stamp)
{
    struct process processes[PROCESSES] = {{.last = NULL}};
    state = random_begin((uint64_t)_i + 1);
    for (unsigned i = 0; i < PROCESSES; i++)
        processes[i].now_ns = 100000 + below(50000);
    for (size_t i = 0; i < EVENTS; i++)
        let_happen(processes, i);
    for (size_t i = 0; i < EVENTS; i++) {
        for (size_t k = i + 1; k < EVENTS; k++)
            ck_assert(!comes_before(&events[i], &events[k]) || events[i].stamp < events[k].stamp);
        ck_assert_uint_ge(events[i].stamp, events[i].now_ns);
        ck_assert_uint_le(events[i].stamp, events[i].latest_ns + count_past(&events[i]) - 1);
    }
}
END_TEST

START_TEST(a_clock_that_runs_is_not_touched)
{
    gyre_trace trace = {0};
    for (uint64_t now_ns = 1000; now_ns < 2000; now_ns += 7)
        ck_assert_uint_eq(gyre_trace_stamp(&trace, now_ns, now_ns - 1), now_ns);
    ck_assert_uint_eq(gyre_trace_stamp(&trace, 5, 0),
                      1995); /* set back: the time stands until the clock is there again */
    ck_assert_uint_eq(gyre_trace_stamp(&trace, 1996, 0), 1996);
    ck_assert_uint_eq(gyre_trace_stamp(&trace, 1996, 5000), 5001);
}
END_TEST

enum { THREADS = 4, TURNS = 3000 };

static gyre_trace shared;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_of_all;

/* Each thread has a clock of its own, and they differ. */
static void *take_turns(void *argument)
{
    for (uint64_t i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&turn);
        const uint64_t stamp = gyre_trace_stamp(&shared, i + 500 * (uint64_t)(uintptr_t)argument, 0);
        const bool rises = stamp > last_of_all;
        last_of_all = stamp;
        pthread_mutex_unlock(&turn);
        if (!rises)
            return argument;
        (void)gyre_trace_stamp(&shared, i, 0); /* beside the others, without a lock */
    }
    return NULL;
}

START_TEST(threads_of_a_process_have_one_order)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        unit_start(&threads[i], take_turns, (void *)(i + 1));
    for (unsigned i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_uint_ge(shared.clock, 2 * THREADS * TURNS); /* each of them got one of its own */
}
END_TEST

/* ---- a device with a clock of its own ---- */

enum { BLOCKS = 4, MESSAGES = 600, STEP_NS = 32 };

struct message {
    uint64_t sent_ns, started, finished, received_ns; /* by the host's clock, and by the device's */
    uint64_t truly_sent, truly_started, truly_finished, truly_received;
    uint64_t sent, start, finish, receipt; /* stamps */
    uint64_t off, bound; /* how far its stamps are from the truth, and how far they may be */
    unsigned block;
};

/* Times that nobody sees, and what clocks make of them. */
struct world {
    uint64_t free_at[BLOCKS];
    uint64_t now, received;
    uint64_t ppm, offset;
    uint64_t set_back_at; /* by a millisecond: the host's clock */
    unsigned blocks;
    int64_t low, high;
    uint64_t widest; /* the widest bounds that a distance was chosen from */
    unsigned learned;
};

static struct message messages[MESSAGES];

static uint64_t device_time(const struct world *world, uint64_t ns)
{
    return (world->offset + ns + ns / 1000000 * world->ppm) / STEP_NS * STEP_NS;
}

static uint64_t host_time(const struct world *world, uint64_t ns)
{
    return ns - (ns >= world->set_back_at ? 1000000 : 0);
}

/* The first block that is free has the message. It is received in the order of sends, as the queue's client does. */
static void let_run(struct world *world, struct message *message)
{
    message->block = 0;
    for (unsigned i = 1; i < world->blocks; i++)
        if (world->free_at[i] < world->free_at[message->block])
            message->block = i;
    uint64_t *free_at = &world->free_at[message->block];
    world->now += 1 + below(600);
    const uint64_t there = world->now + 300 + below(3000);
    const uint64_t start = there > *free_at ? there : *free_at,
                   end = start + below(below(50) ? 2000 : 200000);
    const uint64_t back = end + 300 + below(3000);
    *free_at = end;
    world->received = back > world->received + 10 ? back : world->received + 10;
    message->truly_sent = world->now;
    message->truly_started = start;
    message->truly_finished = end;
    message->truly_received = world->received;
    message->sent_ns = host_time(world, world->now);
    message->started = device_time(world, start);
    message->finished = device_time(world, end);
    message->received_ns = host_time(world, world->received);
}

/* As timing.c does: bounds of some messages, which are forgotten before the clocks have drifted apart. */
static void learn_bounds(struct world *world, const struct message *message)
{
    const int64_t low = (int64_t)(message->finished - message->received_ns),
                  high = (int64_t)(message->started - message->sent_ns);
    const bool anew = world->learned++ % 50 == 0;
    world->low = anew || low > world->low ? low : world->low;
    world->high = anew || high < world->high ? high : world->high;
    if (world->low > world->high)
        world->low = low, world->high = high;
}

static uint64_t distance(uint64_t one, uint64_t other)
{
    return one > other ? one - other : other - one;
}

static void stamp_message(gyre_trace *trace, struct gyre_device_clock *clock, struct world *world,
                          struct message *message)
{
    struct gyre_device_event event = {
        .low = world->low, .high = world->high, .no_later_ns = message->received_ns};
    const uint64_t pieces = clock->count;
    event.time = message->started;
    event.after = message->sent;
    message->start = gyre_device_clock_stamp(clock, &event);
    event.time = message->finished;
    event.after = message->start;
    message->finish = gyre_device_clock_stamp(clock, &event);
    message->receipt = gyre_trace_stamp(trace, message->received_ns, message->finish);
    const uint64_t width = (uint64_t)world->high - (uint64_t)world->low;
    if (clock->count != pieces && width > world->widest)
        world->widest = width;
    const uint64_t start = distance(message->start, message->truly_started),
                   finish = distance(message->finish, message->truly_finished);
    message->off = start > finish ? start : finish;
    message->bound = world->widest + STEP_NS;
}

/* Sends and receipts come in the order of the host's clock. */
static void stamp_all(const struct world *begin, gyre_trace *trace, struct gyre_device_clock *clock)
{
    struct world world = *begin;
    for (size_t next = 0, done = 0; done < MESSAGES;) {
        if (next < MESSAGES && messages[next].truly_sent <= messages[done].truly_received) {
            messages[next].sent = gyre_trace_stamp(trace, messages[next].sent_ns, 0);
            next++;
            continue;
        }
        learn_bounds(&world, &messages[done]);
        stamp_message(trace, clock, &world, &messages[done]);
        done++;
    }
}

static bool is_in_order(const struct message *message)
{
    return message->sent < message->start && message->start < message->finish &&
           message->finish < message->receipt;
}

START_TEST(a_devices_events_keep_their_order)
{
    struct world world = {
        .now = 1000000, .low = INT64_MIN, .high = INT64_MAX, .blocks = BLOCKS, .set_back_at = UINT64_MAX};
    gyre_trace trace = {0};
    struct gyre_device_clock clock = {0};
    const struct message *before[BLOCKS] = {NULL};
    state = random_begin((uint64_t)_i + 1);
    world.ppm = below(3) * 100; /* 100 ppm: five times what was measured */
    world.offset = below(2) * (UINT64_C(1) << below(40));
    if (_i % 3 == 0)
        world.blocks = 1, world.set_back_at = world.now + below(200000);
    for (size_t i = 0; i < MESSAGES; i++)
        let_run(&world, &messages[i]);
    stamp_all(&world, &trace, &clock);
    for (size_t i = 0; i < MESSAGES; i++) {
        const struct message *message = &messages[i], *earlier = before[message->block];
        ck_assert(is_in_order(message));
        ck_assert_uint_le(message->off, world.set_back_at == UINT64_MAX ? message->bound : UINT64_MAX);
        if (earlier && earlier->finished < message->started) /* the device's clock tells them apart */
            ck_assert_uint_lt(earlier->finish, message->start);
        before[message->block] = message;
    }
}
END_TEST

/* The device's clock begins anew, makes up times, and the host's is set back by a second: each message keeps its order. */
START_TEST(messages_keep_their_order_whatever_clocks_say)
{
    struct world world = {.now = UINT64_C(5000000000),
                          .low = INT64_MIN,
                          .high = INT64_MAX,
                          .blocks = BLOCKS,
                          .set_back_at = UINT64_MAX};
    gyre_trace trace = {0};
    struct gyre_device_clock clock = {0};
    uint64_t latest_ns = 0, given = 0;
    state = random_begin((uint64_t)_i + 1);
    for (size_t i = 0; i < MESSAGES; i++) {
        struct message *message = &messages[i];
        let_run(&world, message);
        if (i % 100 == 50)
            world.offset = below(3) * (UINT64_C(1) << (20 + below(43)));
        if (i % 200 == 100) {
            world.now -= 1000000000;
            world.received -= 1000000000;
            memset(world.free_at, 0, sizeof world.free_at);
        }
        if (below(10) == 0)
            message->started = below(2) ? UINT64_MAX - below(5) : below(5);
        message->sent = gyre_trace_stamp(&trace, message->sent_ns, 0);
        learn_bounds(&world, message);
        stamp_message(&trace, &clock, &world, message);
        latest_ns = message->received_ns > latest_ns ? message->received_ns : latest_ns;
        given += 4;
        ck_assert(is_in_order(message));
        ck_assert(i == 0 || messages[i - 1].receipt < message->sent);
        ck_assert_uint_le(message->receipt, latest_ns + given); /* a device that lies moves nobody's time */
    }
}
END_TEST

static uint64_t stamp_of(struct gyre_device_clock *clock, uint64_t time, int64_t ahead, uint64_t no_later_ns)
{
    const struct gyre_device_event event = {
        .time = time, .low = ahead, .high = ahead + 100, .no_later_ns = no_later_ns};
    return gyre_device_clock_stamp(clock, &event);
}

/* A handler that took long is known of when the clocks were compared anew since it began. */
START_TEST(what_is_received_late_keeps_its_time)
{
    struct gyre_device_clock clock = {.count = 0};
    ck_assert_uint_eq(stamp_of(&clock, 1000000, 0, 9000000), 1000000);
    ck_assert_uint_eq(stamp_of(&clock, 2000000, 500, 9000000), 1999450);
    ck_assert_uint_eq(stamp_of(&clock, 3000, 500, 9000000), 3000);
    ck_assert_uint_eq(stamp_of(&clock, 1000100, 500, 9000000),
                      1000050); /* at half the speed, for no step back */
}
END_TEST

START_TEST(a_device_goes_on_where_the_hosts_clock_is_set_back)
{
    struct gyre_device_clock clock = {.count = 0};
    ck_assert_uint_eq(stamp_of(&clock, 1000, 0, 5000), 1000);
    ck_assert_uint_eq(stamp_of(&clock, 2000, 0, 500), 1001);
    ck_assert_uint_eq(stamp_of(&clock, 3000, 0, 500), 1002);
    ck_assert_uint_eq(stamp_of(&clock, 4000, 0, 6000), 4000);
}
END_TEST

/* A worker that writes one time at the clock's end costs that time its place, and no later one. */
START_TEST(one_time_that_cannot_be_moves_no_later_one)
{
    for (uint64_t wild = UINT64_MAX; wild > UINT64_MAX - 2; wild--) {
        struct gyre_device_clock clock = {.count = 0};
        ck_assert_uint_eq(stamp_of(&clock, 1000, 0, 5000), 1000);
        ck_assert_uint_le(stamp_of(&clock, wild, INT64_MIN, 6000), 6001);
        ck_assert_uint_le(stamp_of(&clock, wild, 0, 6000), 6001);
        for (uint64_t i = 1; i < 40; i++) /* the clocks are compared anew each time */
            ck_assert_uint_eq(stamp_of(&clock, i * 1000000, -150 * (int64_t)(i % 2), i * 1000000 + 5000),
                              i * 1000000 + 100 * (i % 2));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stamps");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, what_comes_later_has_the_larger_stamp, 0, HISTORIES);
    tcase_add_test(all, a_clock_that_runs_is_not_touched);
    tcase_add_test(all, threads_of_a_process_have_one_order);
    tcase_add_loop_test(all, a_devices_events_keep_their_order, 0, HISTORIES);
    tcase_add_loop_test(all, messages_keep_their_order_whatever_clocks_say, 0, HISTORIES);
    tcase_add_test(all, what_is_received_late_keeps_its_time);
    tcase_add_test(all, a_device_goes_on_where_the_hosts_clock_is_set_back);
    tcase_add_test(all, one_time_that_cannot_be_moves_no_later_one);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
