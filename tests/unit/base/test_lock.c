/* SPDX-License-Identifier: Apache-2.0 */
/* The lock between threads: one at a time inside, no sleeper is forgotten, owners come and go. */
#include <pthread.h>
#include <sched.h>

#include "core/base/lock.h"
#include "unit/unit.h"

enum { THREADS = 4, TURNS = 20000 };

static struct shared {
    struct gyre_lock lock;
    unsigned yield_every; /* turns; the others spin out and sleep meanwhile */
    uint64_t count;       /* plain: the lock alone protects it */
} shared;

static void *take_turns(void *argument)
{
    (void)argument;
    for (unsigned turn = 1; turn <= TURNS; turn++) {
        gyre_lock_take(&shared.lock);
        uint64_t seen = shared.count;
        if (turn % shared.yield_every == 0)
            sched_yield();
        shared.count = seen + 1;
        gyre_lock_give(&shared.lock);
    }
    return NULL;
}

static void run(int light_barriers, unsigned yield_every)
{
    pthread_t threads[THREADS];
    shared = (struct shared){.yield_every = yield_every};
    gyre_lock_init(&shared.lock, light_barriers);
    for (int i = 0; i < THREADS; i++)
        unit_start(&threads[i], take_turns, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(shared.count, THREADS * TURNS);
    ck_assert_uint_eq(shared.lock.word, 0);
}

START_TEST(nobody_is_inside_with_another_and_all_come_through)
{
    run(gyre_barrier_register(), 100000);
}
END_TEST

START_TEST(sleepers_are_woken)
{
    run(gyre_barrier_register(), 20);
}
END_TEST

START_TEST(sleepers_are_woken_without_membarrier)
{
    run(0, 20);
}
END_TEST

START_TEST(a_taken_lock_is_not_to_be_had)
{
    struct gyre_lock lock = {0};
    ck_assert(gyre_lock_try(&lock));
    ck_assert(!gyre_lock_try(&lock));
    gyre_lock_give(&lock);
    ck_assert(gyre_lock_try(&lock));
}
END_TEST

static void *take_once(void *argument)
{
    struct gyre_lock *lock = argument;
    gyre_lock_take(lock);
    gyre_lock_give(lock);
    return NULL;
}

START_TEST(a_lock_of_one_thread_is_owned_until_another_comes)
{
    struct gyre_lock lock;
    pthread_t thread;
    gyre_lock_init(&lock, gyre_barrier_register());
    for (int i = 0; i < 100; i++) {
        gyre_lock_take(&lock);
        gyre_lock_give(&lock);
    }
    ck_assert_int_eq(lock.owner != NULL, lock.may_be_owned);
    unit_start(&thread, take_once, &lock);
    pthread_join(thread, NULL);
    ck_assert_ptr_null(lock.owner);
    ck_assert(gyre_lock_try(&lock));
}
END_TEST

/* More threads than seats, one after another and all alive: each takes the lock often enough to own it. */
static pthread_barrier_t all_through;

static void *take_often_and_stay(void *argument)
{
    for (int i = 0; i < 2000; i++)
        take_once(argument);
    pthread_barrier_wait(&all_through);
    return NULL;
}

START_TEST(threads_without_a_seat_take_the_word)
{
    enum { CROWD = GYRE_LOCK_SEATS + 3 };
    struct gyre_lock lock;
    pthread_t threads[CROWD];
    gyre_lock_init(&lock, gyre_barrier_register());
    pthread_barrier_init(&all_through, NULL, CROWD);
    for (int i = 0; i < CROWD; i++)
        unit_start(&threads[i], take_often_and_stay, &lock);
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_through);
    ck_assert(gyre_lock_try(&lock));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock");
    TCase *tcase = tcase_create("lock");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, nobody_is_inside_with_another_and_all_come_through);
    tcase_add_test(tcase, sleepers_are_woken);
    tcase_add_test(tcase, sleepers_are_woken_without_membarrier);
    tcase_add_test(tcase, a_taken_lock_is_not_to_be_had);
    tcase_add_test(tcase, a_lock_of_one_thread_is_owned_until_another_comes);
    tcase_add_test(tcase, threads_without_a_seat_take_the_word);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
