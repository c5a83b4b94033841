/* SPDX-License-Identifier: Apache-2.0 */
/* See schedule.h. What is here belongs to the thread that has the turn; a semaphore hands it on. */
#include "schedule.h"

#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/error.h"
#include "tests/random.h"

enum {
    THREADS_MAX = 512,
    STEPS_MAX = 4000000, /* of a run that gets nowhere */
    STAYS = 3,           /* of so many steps each but one leaves the turn where it is */
    EARLY = 64,          /* of so many sleeps one ends early */
    REWEIGH = 2000,      /* steps until threads are quick or slow in another way */
    STEP_NS = 400
};

enum state { RUNS, SLEEPS, LEFT, FROZEN };

struct schedule_thread {
    sem_t turn;
    enum state state;
    const void *key;
    uint64_t deadline_ns, weight;
    bool woken;
};

static struct {
    uint64_t seed, random, die_at, steps, now_ns, trace;
    unsigned held;
    size_t count;
    struct schedule_thread threads[THREADS_MAX];
} schedule;
static _Thread_local struct schedule_thread *self;

/* ---- chance ---- */

uint64_t schedule_draw(uint64_t below)
{
    return random_below(&schedule.random, below);
}

static uint64_t draw_weight(void)
{
    static const uint64_t weights[] = {1, 4, 16, 16, 64};
    return weights[schedule_draw(sizeof weights / sizeof weights[0])];
}

uint64_t schedule_now_ns(void)
{
    return schedule.now_ns;
}

uint64_t schedule_steps(void)
{
    return schedule.steps;
}

uint64_t schedule_trace(void)
{
    return schedule.trace;
}

_Noreturn void schedule_fail(const char *format, ...)
{
    va_list args;
    printf("seed %llu, step %llu: ", (unsigned long long)schedule.seed, (unsigned long long)schedule.steps);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n    last error: %s\n", gyre_error_text());
    fflush(stdout);
    _exit(EXIT_FAILURE);
}

/* ---- who is next ---- */

static bool may_run(const struct schedule_thread *thread)
{
    return thread->state == RUNS || (thread->state == SLEEPS && thread->deadline_ns <= schedule.now_ns);
}

static uint64_t weigh_all(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < schedule.count; i++)
        sum += may_run(&schedule.threads[i]) ? schedule.threads[i].weight : 0;
    return sum;
}

/* Everybody sleeps: it is the first deadline. */
static void jump(void)
{
    uint64_t first = SCHEDULE_NEVER;
    for (size_t i = 0; i < schedule.count; i++) {
        const struct schedule_thread *thread = &schedule.threads[i];
        if (thread->state == SLEEPS && thread->deadline_ns < first)
            first = thread->deadline_ns;
    }
    if (first == SCHEDULE_NEVER)
        schedule_fail("every thread waits for another one");
    schedule.now_ns = first;
}

static struct schedule_thread *choose(void)
{
    uint64_t sum = weigh_all();
    if (!sum) {
        jump();
        sum = weigh_all();
    }
    uint64_t turn = schedule_draw(sum);
    struct schedule_thread *thread = schedule.threads;
    for (;; thread++) {
        if (!may_run(thread))
            continue;
        if (turn < thread->weight)
            return thread;
        turn -= thread->weight;
    }
}

static void await_turn(struct schedule_thread *thread)
{
    while (sem_wait(&thread->turn) != 0)
        ;
}

/* Hands the turn to somebody, perhaps to the caller, and returns when the caller has it again. */
static void give_turn(void)
{
    struct schedule_thread *me = self, *next = choose();
    schedule.trace = (schedule.trace ^ (uint64_t)(next - schedule.threads) ^ schedule.now_ns << 9) *
                     UINT64_C(0x100000001b3);
    if (next == me)
        return;
    sem_post(&next->turn);
    if (me->state != LEFT)
        await_turn(me);
}

static void reweigh(void)
{
    for (size_t i = 0; i < schedule.count; i++)
        schedule.threads[i].weight = draw_weight();
}

/* ---- steps ---- */

_Noreturn void schedule_die(void)
{
    fflush(stdout);
    _exit(SCHEDULE_DIED);
}

bool schedule_step_dies(void)
{
    if (!self)
        return false;
    schedule.steps++;
    schedule.now_ns += schedule_draw(2 * STEP_NS);
    if (schedule.die_at && schedule.steps >= schedule.die_at)
        return true;
    if (schedule.steps > STEPS_MAX)
        schedule_fail("it does not come to an end");
    if (schedule.steps % REWEIGH == 0)
        reweigh();
    if (!schedule.held && schedule_draw(STAYS) == 0)
        give_turn();
    return false;
}

void schedule_step(void)
{
    if (schedule_step_dies())
        schedule_die();
}

bool schedule_sleep(const void *key, uint64_t deadline_ns)
{
    if (schedule.held)
        schedule_fail("a thread sleeps that may not give its turn away");
    self->key = key;
    self->deadline_ns = schedule_draw(EARLY) == 0 ? schedule.now_ns : deadline_ns;
    self->woken = self->deadline_ns < deadline_ns;
    self->state = SLEEPS;
    give_turn();
    self->state = RUNS;
    self->key = NULL;
    return self->woken;
}

int schedule_wake(const void *key, int count)
{
    int woken = 0;
    const size_t begin = schedule.count ? schedule_draw(schedule.count) : 0;
    for (size_t i = 0; i < schedule.count && woken < count; i++) {
        struct schedule_thread *thread = &schedule.threads[(begin + i) % schedule.count];
        if (thread->state != SLEEPS || thread->key != key)
            continue;
        thread->state = RUNS;
        thread->key = NULL;
        thread->woken = true;
        woken++;
    }
    return woken;
}

void schedule_hold(void)
{
    schedule.held++;
}

void schedule_let_go(void)
{
    schedule.held--;
}

/* ---- threads ---- */

struct schedule_thread *schedule_self(void)
{
    return self;
}

struct schedule_thread *schedule_add(void)
{
    if (schedule.count == THREADS_MAX)
        schedule_fail("more than %d threads", THREADS_MAX);
    struct schedule_thread *thread = &schedule.threads[schedule.count++];
    sem_init(&thread->turn, 0, 0);
    thread->state = RUNS;
    thread->weight = draw_weight();
    return thread;
}

void schedule_begin(uint64_t seed, uint64_t die_at)
{
    schedule.seed = seed;
    schedule.random = random_begin(seed + 1);
    schedule.die_at = die_at;
    schedule.now_ns = UINT64_C(1000000000000);
    self = schedule_add();
}

void schedule_enter(struct schedule_thread *thread)
{
    await_turn(thread);
    self = thread;
}

void schedule_leave(void)
{
    self->state = LEFT;
    schedule_wake(self, 1);
    give_turn();
}

bool schedule_has_left(const struct schedule_thread *thread)
{
    return thread->state == LEFT;
}

void schedule_freeze(struct schedule_thread *thread)
{
    thread->state = FROZEN;
    while (thread == self)
        give_turn();
}
