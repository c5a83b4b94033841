/* SPDX-License-Identifier: Apache-2.0 */
/* The release lock between threads: one at a time inside, and no sleeper is forgotten. */
#include <pthread.h>
#include <sched.h>

#include "core/base/lock.h"
#include "unit/unit.h"

enum { THREADS = 4, TURNS = 20000 };

static struct shared {
    struct gyre_release_lock lock;
    int light_barriers;
    unsigned yield_every; /* turns; the others spin out and sleep meanwhile */
    uint64_t count;       /* plain: the lock alone protects it */
} shared;

static void *take_turns(void *argument)
{
    (void)argument;
    for (unsigned turn = 1; turn <= TURNS; turn++) {
        gyre_release_lock_take(&shared.lock, shared.light_barriers);
        uint64_t seen = shared.count;
        if (turn % shared.yield_every == 0)
            sched_yield();
        shared.count = seen + 1;
        gyre_release_lock_give(&shared.lock, shared.light_barriers);
    }
    return NULL;
}

static void run(int light_barriers, unsigned yield_every)
{
    pthread_t threads[THREADS];
    shared = (struct shared){.light_barriers = light_barriers, .yield_every = yield_every};
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_turns, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(shared.count, THREADS * TURNS);
    ck_assert_uint_eq(shared.lock.sleepers, 0);
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
    struct gyre_release_lock lock = {0};
    ck_assert(gyre_release_lock_try(&lock));
    ck_assert(!gyre_release_lock_try(&lock));
    gyre_release_lock_give(&lock, 0);
    ck_assert(gyre_release_lock_try(&lock));
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
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
