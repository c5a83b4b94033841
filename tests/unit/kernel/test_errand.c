/* SPDX-License-Identifier: Apache-2.0 */
/* Work that is lent to threads of a device: who may lend, who takes it back, and that none is left lying. */
#include <pthread.h>
#include <stddef.h>

#include "core/kernel/errand.h"
#include "gyre/waiting.h"
#include "unit/unit.h"

enum { CALLS = 4000, CALLS_LEAST = 50, LOOKS = 20 };
#define ENOUGH_NS UINT64_C(2000000000) /* a slow machine makes fewer calls */
#define NEVER_NS  UINT64_C(600000000000)

/* One client's calls: `asked` and `answered` grow by turns. */
struct office {
    struct gyre_kernel_errand errand;
    uint64_t asked, answered;
    uint32_t bell, over; /* the sleeping device's */
    uint64_t lent;
};

static bool answer(void *owner)
{
    struct office *office = owner;
    const uint64_t asked = __atomic_load_n(&office->asked, __ATOMIC_ACQUIRE);
    if (asked == office->answered)
        return false;
    __atomic_store_n(&office->answered, asked, __ATOMIC_RELEASE);
    if (asked % 7 == 0)
        gyre_errand_recall(&office->errand);
    return true;
}

static gyre_errand *shown(struct office *office)
{
    return &office->errand.shown;
}

static bool is_open(struct office *office)
{
    return __atomic_load_n(&shown(office)->open, __ATOMIC_SEQ_CST) != 0;
}

static void begin(struct office *office)
{
    *office = (struct office){.asked = 0};
    gyre_errand_init(&office->errand);
}

START_TEST(nothing_is_lent_while_nobody_looks)
{
    struct office office;
    begin(&office);
    ck_assert(!gyre_errand_lend(&office.errand, answer, &office) && !is_open(&office));
    shown(&office)->looking = 1;
    ck_assert(gyre_errand_lend(&office.errand, answer, &office) && is_open(&office));
}
END_TEST

START_TEST(one_lends_at_a_time)
{
    struct office office, other;
    begin(&office);
    shown(&office)->looking = 1;
    ck_assert(gyre_errand_lend(&office.errand, answer, &office));
    ck_assert(!gyre_errand_lend(&office.errand, answer, &other));
    gyre_errand_take_back(&office.errand, &other);
    ck_assert_msg(is_open(&office), "somebody else took the work back");
    gyre_errand_take_back(&office.errand, &office);
    ck_assert(!is_open(&office) && gyre_errand_lend(&office.errand, answer, &other));
}
END_TEST

START_TEST(lent_work_is_done_by_who_calls)
{
    struct office office;
    begin(&office);
    office.asked = 3;
    ck_assert_msg(!shown(&office)->run(shown(&office)), "nothing is lent");
    shown(&office)->looking = 1;
    ck_assert(gyre_errand_lend(&office.errand, answer, &office));
    ck_assert(shown(&office)->run(shown(&office)) && office.answered == 3);
    ck_assert(!shown(&office)->run(shown(&office)));
}
END_TEST

START_TEST(only_the_last_who_looks_gives_it_back)
{
    struct office office;
    begin(&office);
    shown(&office)->looking = 1;
    ck_assert(gyre_errand_lend(&office.errand, answer, &office));
    shown(&office)->leave(shown(&office)); /* another thread of the device began to look meanwhile */
    ck_assert(is_open(&office));
    shown(&office)->looking = 0;
    shown(&office)->leave(shown(&office));
    ck_assert(!is_open(&office));
}
END_TEST

START_TEST(who_lent_wakes_when_no_thread_calls)
{
    struct office office;
    begin(&office);
    shown(&office)->looking = 1; /* its thread is in a handler */
    ck_assert(gyre_errand_lend(&office.errand, answer, &office));
    gyre_errand_await(&office.errand, 1000000);
    ck_assert(is_open(&office));
}
END_TEST

/* A thread of the device: looks for a while, sleeps until the owner rings, and looks again. */
static void *look(void *argument)
{
    struct office *office = argument;
    while (!__atomic_load_n(&office->over, __ATOMIC_ACQUIRE)) {
        const uint32_t seen = __atomic_load_n(&office->bell, __ATOMIC_ACQUIRE);
        __atomic_fetch_add(&shown(office)->looking, 1, __ATOMIC_SEQ_CST);
        for (int i = 0; i < LOOKS; i++) {
            if (is_open(office))
                shown(office)->run(shown(office));
            else
                sched_yield();
        }
        if (__atomic_fetch_sub(&shown(office)->looking, 1, __ATOMIC_SEQ_CST) == 1 && is_open(office))
            shown(office)->leave(shown(office));
        if (!__atomic_load_n(&office->over, __ATOMIC_ACQUIRE))
            gyre_futex_wait(&office->bell, seen, NEVER_NS);
    }
    return NULL;
}

/* Whoever lends: does its own work when it may not lend, and wakes the device by it. */
static void *lend(void *argument)
{
    struct office *office = argument;
    while (!__atomic_load_n(&office->over, __ATOMIC_ACQUIRE)) {
        if (gyre_errand_lend(&office->errand, answer, office)) {
            office->lent++;
            gyre_errand_await(&office->errand, NEVER_NS);
            gyre_errand_take_back(&office->errand, office);
        }
        pthread_mutex_lock(&office->errand.lock); /* as take_turn of a relay has its own lock */
        const uint64_t asked = __atomic_load_n(&office->asked, __ATOMIC_ACQUIRE);
        const bool worked = asked != office->answered;
        __atomic_store_n(&office->answered, asked, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&office->errand.lock);
        if (worked)
            gyre_bell_ring(&office->bell, INT_MAX);
        else
            sched_yield();
    }
    return NULL;
}

START_TEST(no_request_is_left_lying)
{
    static struct office office;
    pthread_t threads[3];
    begin(&office);
    ck_assert_int_eq(pthread_create(&threads[0], NULL, lend, &office), 0);
    ck_assert_int_eq(pthread_create(&threads[1], NULL, look, &office), 0);
    ck_assert_int_eq(pthread_create(&threads[2], NULL, look, &office), 0);
    const uint64_t until = gyre_clock_ns() + ENOUGH_NS;
    for (uint64_t call = 1; call <= CALLS && (call <= CALLS_LEAST || gyre_clock_ns() < until); call++) {
        __atomic_store_n(&office.asked, call, __ATOMIC_RELEASE);
        while (__atomic_load_n(&office.answered, __ATOMIC_ACQUIRE) != call)
            sched_yield();
    }
    __atomic_store_n(&office.over, 1, __ATOMIC_SEQ_CST);
    gyre_bell_ring(&office.bell, INT_MAX);
    gyre_errand_take_back(&office.errand, &office);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    ck_assert_msg(office.lent > 0, "nothing was ever lent");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("errand");
    TCase *cases = tcase_create("errand");
    tcase_add_test(cases, nothing_is_lent_while_nobody_looks);
    tcase_add_test(cases, one_lends_at_a_time);
    tcase_add_test(cases, lent_work_is_done_by_who_calls);
    tcase_add_test(cases, only_the_last_who_looks_gives_it_back);
    tcase_add_test(cases, who_lent_wakes_when_no_thread_calls);
    tcase_add_test(cases, no_request_is_left_lying);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
