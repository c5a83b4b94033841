/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The asymmetric barrier of waiting.h, between two processors: of two threads that each store and then look,
 * one sees the other. The light side's store waits behind many others, so that its look is early by
 * microseconds; without the heavy side's barrier both miss each other some hundred times here.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "gyre/waiting.h"
#include "unit/unit.h"

enum {
    ROUNDS = 10,
    MEETINGS = 2000, /* of a round */
    STORES_BEFORE = 40,
    FAR = 64 << 20, /* bytes: each store waits for its line and for its page's place */
    LATEST = 1500,  /* turns that the heavy side comes later than the light one, at most */
    SOON = 20000, /* turns within which the other side comes, unless its processor has something else to do */
};

/* Each on a line of its own. */
struct word {
    uint32_t value;
    char line[252];
};

static struct {
    struct word turn, over, light, heavy, saw_heavy;
    unsigned char *far;
    int light_barriers;
    size_t cpus[2];
} meeting;

static uint32_t look(const struct word *word)
{
    return __atomic_load_n(&word->value, __ATOMIC_RELAXED);
}

static void say(struct word *word, uint32_t value)
{
    __atomic_store_n(&word->value, value, __ATOMIC_RELAXED);
}

/* A side whose other one does not run leaves its processor to those who have work. */
static void await_word(const struct word *word, uint32_t value)
{
    for (int turns = 0; __atomic_load_n(&word->value, __ATOMIC_ACQUIRE) != value; turns++) {
        if (turns < SOON)
            gyre_spin_pause();
        else
            sched_yield();
    }
}

static void go_to(size_t cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void *meet_lightly(void *argument)
{
    uint32_t place = 1;
    go_to(meeting.cpus[1]);
    for (uint32_t turn = 1; turn <= MEETINGS; turn++) {
        await_word(&meeting.turn, turn);
        for (int i = 0; i < STORES_BEFORE; i++) {
            place = place * 1664525 + 1013904223;
            __atomic_store_n(&meeting.far[place % FAR], 1, __ATOMIC_RELAXED);
        }
        say(&meeting.light, 1);
        gyre_barrier_light(meeting.light_barriers);
        say(&meeting.saw_heavy, look(&meeting.heavy));
        __atomic_store_n(&meeting.over.value, turn, __ATOMIC_RELEASE);
    }
    return argument;
}

/* How often both missed each other. */
static unsigned meet_heavily(void)
{
    unsigned missed = 0;
    for (uint32_t turn = 1; turn <= MEETINGS; turn++) {
        say(&meeting.light, 0);
        say(&meeting.heavy, 0);
        __atomic_store_n(&meeting.turn.value, turn, __ATOMIC_SEQ_CST);
        for (volatile uint32_t late = turn * 7 % LATEST; late > 0;)
            late = late - 1;
        say(&meeting.heavy, 1);
        gyre_barrier_heavy(meeting.light_barriers);
        const uint32_t saw_light = look(&meeting.light);
        await_word(&meeting.over, turn);
        missed += !saw_light && !look(&meeting.saw_heavy);
    }
    return missed;
}

static void *leave(void *argument)
{
    go_to(meeting.cpus[1]);
    return argument;
}

/* Two processors that this process may use. */
static bool choose_processors(void)
{
    cpu_set_t set;
    int found = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return false;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
        if (CPU_ISSET(cpu, &set))
            meeting.cpus[found++] = cpu;
    return found == 2;
}

/* Threads that end on a processor, and begin on one that was idle, are what a kernel keeps account of. */
static void meet_in_rounds(int rounds)
{
    unsigned missed = 0;
    if (!choose_processors())
        return; /* on one alone a thread sees its own stores in order, and so does whoever follows it there */
    go_to(meeting.cpus[0]);
    meeting.far = calloc(FAR, 1);
    ck_assert_ptr_nonnull(meeting.far);
    for (int round = 0; round < rounds; round++) {
        pthread_t thread;
        unit_start(&thread, leave, NULL);
        pthread_join(thread, NULL);
        say(&meeting.turn, 0);
        say(&meeting.over, 0);
        unit_start(&thread, meet_lightly, NULL);
        missed += meet_heavily();
        pthread_join(thread, NULL);
    }
    free(meeting.far);
    ck_assert_uint_eq(missed, 0);
}

START_TEST(one_of_two_sees_the_other_whatever_threads_came_and_went)
{
    meeting.light_barriers = gyre_barrier_register();
    meet_in_rounds(ROUNDS);
}
END_TEST

/* What a program may do after Gyre registered it. */
static void refuse_barriers(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {.len = sizeof rules / sizeof rules[0], .filter = rules};
    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

START_TEST(one_of_two_sees_the_other_where_barriers_are_refused_later)
{
    meeting.light_barriers = gyre_barrier_register();
    refuse_barriers();
    const uint64_t begun_ns = gyre_clock_ns();
    gyre_barrier_heavy(meeting.light_barriers);
    if (meeting.light_barriers)
        ck_assert_uint_ge(gyre_clock_ns() - begun_ns, GYRE_STORES_ARRIVE_NS);
    meet_in_rounds(1);
}
END_TEST

START_TEST(who_parks_looks_again_when_stores_have_arrived)
{
    const uint64_t parked_ns = 5, arrived_ns = parked_ns + GYRE_STORES_ARRIVE_NS;
    ck_assert_uint_eq(gyre_park_until(parked_ns, parked_ns, UINT64_MAX), arrived_ns);
    ck_assert_uint_eq(gyre_park_until(parked_ns, arrived_ns - 1, UINT64_MAX), arrived_ns);
    ck_assert_uint_eq(gyre_park_until(parked_ns, arrived_ns, UINT64_MAX), UINT64_MAX);
    ck_assert_uint_eq(gyre_park_until(parked_ns, parked_ns, parked_ns + 1), parked_ns + 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("barrier");
    TCase *tcase = tcase_create("barrier");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, one_of_two_sees_the_other_whatever_threads_came_and_went);
    tcase_add_test(tcase, one_of_two_sees_the_other_where_barriers_are_refused_later);
    tcase_add_test(tcase, who_parks_looks_again_when_stores_have_arrived);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
