/* SPDX-License-Identifier: Apache-2.0 */
/* Seats: one sits at a time, and what is published is seen. Relief: a worker goes on when its thread does not come back. */
#include "backends/cpu/threads/cpu_relief.h"
#include "backends/cpu/threads/cpu_seat.h"
#include "gyre/waiting.h"
#include "unit/unit.h"

#include <pthread.h>
#include <stddef.h>

enum { SENDERS = 3, MESSAGES = 20000, STACK = 1 << 20 };

static void no_log(void *context, gyre_log_level level, const char *text)
{
    (void)context;
    (void)level;
    (void)text;
}

static const gyre_host host = {.size = sizeof host, .log = no_log};
static gyre_control_region first, second;

/* ---- the list ---- */

START_TEST(who_looks_for_a_block_finds_its_seat)
{
    struct cpu_seats *seats = cpu_seats_create(2);
    struct cpu_seat *seat = cpu_seat_find(seats, &first, 0);
    ck_assert_ptr_nonnull(seat);
    struct cpu_seat *other = cpu_seat_find(seats, &first, 1);
    ck_assert_ptr_ne(seat, other);
    ck_assert_ptr_eq(seat, cpu_seat_find(seats, &first, 0));
    ck_assert_ptr_ne(seat, cpu_seat_find(seats, &second, 0));
    cpu_seat_drop(seats, seat);
    ck_assert_ptr_eq(seat, cpu_seat_find(seats, &first, 0)); /* one user was left */
    cpu_seat_drop(seats, other);
    cpu_seat_drop(seats, NULL);
    ck_assert_ptr_eq(other, cpu_seat_find(seats, &second, 7)); /* its memory is used again */
    cpu_seats_destroy(seats);
    cpu_seats_destroy(NULL);
}
END_TEST

START_TEST(processors_are_counted_with_one_for_the_client)
{
    struct cpu_seats *seats = cpu_seats_create(4);
    cpu_seats_count_awake(seats, 2);
    ck_assert(!cpu_seats_are_crowded(seats)); /* a third one, and a client */
    cpu_seats_count_awake(seats, 1);
    ck_assert(cpu_seats_are_crowded(seats) && !cpu_seats_are_exceeded(seats));
    cpu_seats_count_awake(seats, 1);
    ck_assert(cpu_seats_are_crowded(seats) && cpu_seats_are_exceeded(seats));
    cpu_seats_count_awake(seats, -2);
    ck_assert(!cpu_seats_are_crowded(seats));
    cpu_seats_destroy(seats);
}
END_TEST

/* ---- the lock ---- */

static struct cpu_seat seat;
static uint64_t published, sitting; /* atomic */
static uint64_t handled;            /* the holder's */

static void look(void)
{
    ck_assert_uint_eq(__atomic_fetch_add(&sitting, 1, __ATOMIC_RELAXED), 0);
    handled = __atomic_load_n(&published, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&sitting, 1, __ATOMIC_RELAXED);
}

static void *publish_and_visit(void *argument)
{
    (void)argument;
    for (int i = 0; i < MESSAGES; i++) {
        __atomic_fetch_add(&published, 1, __ATOMIC_RELAXED); /* the seat alone makes it seen */
        if (!cpu_seat_try(&seat))
            continue;
        do
            look();
        while (!cpu_seat_leave_quietly(&seat));
    }
    return NULL;
}

static void *sit_and_look(void *argument)
{
    for (int i = 0; i < MESSAGES; i++) {
        cpu_seat_take(&seat);
        look();
        if (cpu_seat_leave(&seat))
            (*(uint64_t *)argument)++;
    }
    cpu_seat_take(&seat); /* who was told of a knock looks once more, as does who is about to sleep */
    look();
    cpu_seat_leave(&seat);
    return NULL;
}

/* Nobody but visitors looks, and after the last one nothing is left. */
START_TEST(what_is_published_is_seen_by_a_visitor)
{
    pthread_t senders[SENDERS];
    published = handled = 0;
    for (int i = 0; i < SENDERS; i++)
        ck_assert_int_eq(pthread_create(&senders[i], NULL, publish_and_visit, NULL), 0);
    for (int i = 0; i < SENDERS; i++)
        pthread_join(senders[i], NULL);
    ck_assert_uint_eq(handled, (uint64_t)SENDERS * MESSAGES);
    ck_assert_uint_eq(seat.word, 0);
}
END_TEST

START_TEST(the_owner_waits_for_a_visitor)
{
    pthread_t senders[SENDERS], owner;
    uint64_t knocks = 0;
    published = handled = 0;
    ck_assert_int_eq(pthread_create(&owner, NULL, sit_and_look, &knocks), 0);
    for (int i = 0; i < SENDERS; i++)
        ck_assert_int_eq(pthread_create(&senders[i], NULL, publish_and_visit, NULL), 0);
    for (int i = 0; i < SENDERS; i++)
        pthread_join(senders[i], NULL);
    pthread_join(owner, NULL);
    ck_assert_uint_eq(seat.word, 0);
    cpu_seat_take(&seat); /* the owner leaves without a second look when nobody knocks */
    look();
    ck_assert(!cpu_seat_leave(&seat));
    ck_assert_uint_eq(handled, (uint64_t)SENDERS * MESSAGES);
}
END_TEST

START_TEST(who_finds_a_seat_held_is_heard)
{
    ck_assert(cpu_seat_try(&seat));
    ck_assert(!cpu_seat_try(&seat));
    ck_assert(!cpu_seat_leave_quietly(&seat)); /* once for all who knocked */
    ck_assert(cpu_seat_leave_quietly(&seat));
    cpu_seat_take(&seat);
    ck_assert(!cpu_seat_try(&seat));
    ck_assert(cpu_seat_leave(&seat));
    ck_assert_uint_eq(seat.word, 0);
}
END_TEST

/* ---- relief ---- */

/* A worker that goes away once, until it was relieved, and ends in its second thread. */
struct walker {
    struct cpu_task task;
    struct cpu_pool *pool;
    struct cpu_relief *relief;
    uint32_t runs, late, present;
};

static enum cpu_task_end walk(struct cpu_task *task)
{
    struct walker *walker = (struct walker *)(void *)((unsigned char *)task - offsetof(struct walker, task));
    struct cpu_relief *relief = walker->relief;
    struct cpu_visitor visitor = {0};
    const uint32_t run = __atomic_fetch_add(&walker->runs, 1, __ATOMIC_ACQ_REL);
    for (int i = 0; i < 100; i++) { /* short walks are nobody's business */
        ck_assert(cpu_relief_leave(relief, &visitor, task));
        if (run == 0 && i == 50)
            while (!cpu_relief_came(&visitor))
                gyre_spin_pause();
        if (!cpu_relief_return(relief, &visitor)) {
            __atomic_fetch_add(&walker->late, 1, __ATOMIC_RELAXED);
            return CPU_TASK_ENDED;
        }
    }
    cpu_relief_forget(relief, &visitor);
    cpu_pool_leave(walker->pool, &walker->present);
    return CPU_TASK_ENDED;
}

static void run_walkers(int count)
{
    struct cpu_pool *pool = cpu_pool_create(&host, STACK);
    struct cpu_relief *relief = cpu_relief_create(pool, gyre_barrier_register());
    struct walker walkers[4] = {{.runs = 0}};
    ck_assert_ptr_nonnull(relief);
    for (int i = 0; i < count; i++) {
        walkers[i] = (struct walker){
            .task = {.run = walk, .processor = -1}, .pool = pool, .relief = relief, .present = 1};
        ck_assert_int_eq(cpu_pool_start(pool, &walkers[i].task), 0);
    }
    for (int i = 0; i < count; i++)
        while (__atomic_load_n(&walkers[i].present, __ATOMIC_ACQUIRE))
            gyre_futex_wait(&walkers[i].present, 1, UINT64_MAX);
    cpu_relief_close(relief);
    cpu_pool_destroy(pool); /* joins those who came late */
    cpu_relief_destroy(relief);
    for (int i = 0; i < count; i++) {
        ck_assert_uint_ge(walkers[i].runs,
                          2); /* a thread that lost its processor may be relieved once more */
        ck_assert_uint_eq(walkers[i].late, walkers[i].runs - 1);
    }
}

START_TEST(a_worker_whose_thread_stays_away_goes_on)
{
    for (int round = 0; round < 20; round++)
        run_walkers(1 + round % 4);
    run_walkers(0); /* a relief that nobody needed */
    cpu_relief_close(NULL);
    cpu_relief_destroy(NULL);
}
END_TEST

START_TEST(a_relief_that_rests_is_woken)
{
    struct cpu_pool *pool = cpu_pool_create(&host, STACK);
    struct cpu_relief *relief = cpu_relief_create(pool, gyre_barrier_register());
    struct walker walker = {
        .task = {.run = walk, .processor = -1}, .pool = pool, .relief = relief, .present = 1};
    struct cpu_visitor visitor = {0};
    const struct timespec nap = {0, 20000000};
    ck_assert(cpu_relief_leave(relief, &visitor, &walker.task));
    if (cpu_relief_return(relief,
                          &visitor)) { /* else this thread lost its processor, and the worker runs already */
        nanosleep(&nap, NULL);         /* long enough to rest; both ways are right */
        ck_assert(cpu_relief_leave(relief, &visitor, &walker.task));
        while (!cpu_relief_came(&visitor))
            gyre_spin_pause();
        ck_assert(!cpu_relief_return(relief, &visitor));
    }
    while (__atomic_load_n(&walker.present, __ATOMIC_ACQUIRE))
        gyre_futex_wait(&walker.present, 1, UINT64_MAX);
    cpu_relief_close(relief);
    cpu_pool_destroy(pool);
    cpu_relief_destroy(relief);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu_seat");
    TCase *tests = tcase_create("seats");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, who_looks_for_a_block_finds_its_seat);
    tcase_add_test(tests, processors_are_counted_with_one_for_the_client);
    tcase_add_test(tests, what_is_published_is_seen_by_a_visitor);
    tcase_add_test(tests, the_owner_waits_for_a_visitor);
    tcase_add_test(tests, who_finds_a_seat_held_is_heard);
    tcase_add_test(tests, a_worker_whose_thread_stays_away_goes_on);
    tcase_add_test(tests, a_relief_that_rests_is_woken);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
