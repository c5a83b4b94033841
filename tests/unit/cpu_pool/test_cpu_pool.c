/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of tasks: who rests takes none, who was called has one, nobody is forgotten. */
#include "backends/cpu/threads/cpu_pool.h"
#include "gyre/waiting.h"
#include "unit/unit.h"

#include <dirent.h>
#include <stddef.h>

enum { MANY = 300, ROUNDS = 40, STACK = 1 << 20 };

/* A task that handles `wanted` pieces of work, one a ring, and rests whenever there is none. */
struct piece {
    struct cpu_task task;
    struct cpu_pool *pool;
    uint32_t bell;
    uint32_t wanted, done; /* 32-bit: futex words */
    uint32_t ends, runs;
    uint32_t *present;
};

static struct piece *piece_of(struct cpu_task *task)
{
    return (struct piece *)(void *)((unsigned char *)task - offsetof(struct piece, task));
}

static bool piece_has_news(struct cpu_task *task)
{
    struct piece *piece = piece_of(task);
    return __atomic_load_n(&piece->wanted, __ATOMIC_ACQUIRE) !=
               __atomic_load_n(&piece->done, __ATOMIC_RELAXED) ||
           __atomic_load_n(&piece->ends, __ATOMIC_ACQUIRE);
}

static enum cpu_task_end piece_run(struct cpu_task *task)
{
    struct piece *piece = piece_of(task);
    __atomic_fetch_add(&piece->runs, 1, __ATOMIC_RELAXED);
    for (;;) {
        task->seen = __atomic_load_n(&piece->bell, __ATOMIC_ACQUIRE);
        if (!piece_has_news(task))
            return CPU_TASK_RESTS;
        if (__atomic_load_n(&piece->ends, __ATOMIC_ACQUIRE))
            break;
        __atomic_fetch_add(&piece->done, 1, __ATOMIC_RELEASE);
        gyre_futex_wake(&piece->done, INT_MAX);
    }
    cpu_pool_leave(piece->pool, piece->present);
    return CPU_TASK_ENDED;
}

static void no_log(void *context, gyre_log_level level, const char *text)
{
    (void)context;
    (void)level;
    (void)text;
}

static const gyre_host host = {.size = sizeof host, .log = no_log};
static struct piece pieces[MANY];
static uint32_t present;

static struct cpu_pool *begin(uint32_t count)
{
    struct cpu_pool *pool = cpu_pool_create(&host, STACK);
    ck_assert_ptr_nonnull(pool);
    present = count;
    for (uint32_t i = 0; i < count; i++) {
        pieces[i] = (struct piece){.task = {.run = piece_run, .has_news = piece_has_news, .processor = -1},
                                   .pool = pool,
                                   .present = &present};
        pieces[i].task.bell = &pieces[i].bell;
        ck_assert_int_eq(cpu_pool_start(pool, &pieces[i].task), 0);
    }
    return pool;
}

static void ask(struct piece *piece)
{
    __atomic_fetch_add(&piece->wanted, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&piece->bell, INT_MAX);
}

static void await(const struct piece *piece, uint32_t done)
{
    uint32_t now;
    while ((now = __atomic_load_n(&piece->done, __ATOMIC_ACQUIRE)) != done)
        gyre_futex_wait(&piece->done, now, UINT64_MAX);
}

static void finish(struct cpu_pool *pool, uint32_t count)
{
    uint32_t now;
    for (uint32_t i = 0; i < count; i++) {
        __atomic_store_n(&pieces[i].ends, 1, __ATOMIC_RELEASE);
        gyre_bell_ring(&pieces[i].bell, INT_MAX);
    }
    while ((now = __atomic_load_n(&present, __ATOMIC_ACQUIRE)) != 0)
        gyre_futex_wait(&present, now, UINT64_MAX);
    cpu_pool_settle(pool);
    cpu_pool_destroy(pool);
}

static int thread_count(void)
{
    int count = 0;
    DIR *threads = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(threads);
    for (const struct dirent *entry; (entry = readdir(threads));)
        count += entry->d_name[0] != '.';
    closedir(threads);
    return count;
}

/* Threads that are on their way out count for a moment. */
static void await_threads(int most)
{
    const struct timespec nap = {0, 1000000};
    while (thread_count() > most)
        nanosleep(&nap, NULL);
}

#define SKIP_WITHOUT_WATCHING(pool)                                                                          \
    if (!cpu_pool_can_watch(pool)) {                                                                         \
        printf("this system knows no sleep at several bells\n");                                             \
        finish(pool, 0);                                                                                     \
        exit(77);                                                                                            \
    }

START_TEST(tasks_that_rest_share_a_few_threads)
{
    finish(begin(1), 1); /* a sanitizer starts a thread of its own beside the first */
    const int before = thread_count();
    struct cpu_pool *pool = begin(MANY);
    SKIP_WITHOUT_WATCHING(pool)
    await_threads(before + (MANY + CPU_POOL_WATCHED_MAX - 1) / CPU_POOL_WATCHED_MAX + CPU_POOL_SPARES);
    finish(pool, MANY);
    await_threads(before);
}
END_TEST

START_TEST(each_ring_is_answered_once)
{
    struct cpu_pool *pool = begin(MANY);
    uint32_t random = 1;
    SKIP_WITHOUT_WATCHING(pool)
    for (uint32_t round = 0; round < ROUNDS * MANY; round++) {
        random = random * 1664525u + 1013904223u;
        ask(&pieces[(random >> 8) % MANY]);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        await(&pieces[i], pieces[i].wanted);
        ck_assert_uint_ge(pieces[i].runs, 1);
    }
    finish(pool, MANY);
}
END_TEST

START_TEST(a_task_that_rests_is_run_when_its_bell_is_rung)
{
    struct cpu_pool *pool = begin(2);
    for (uint32_t round = 1; round <= 200; round++) {
        ask(&pieces[round % 2]);
        await(&pieces[round % 2], (round + 1) / 2);
    }
    finish(pool, 2);
}
END_TEST

/* A handler that never returns. */
static uint32_t is_held, may_go;

static enum cpu_task_end held_run(struct cpu_task *task)
{
    if (piece_has_news(task) && !piece_of(task)->ends) {
        __atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
        gyre_futex_wake(&is_held, INT_MAX);
        while (!__atomic_load_n(&may_go, __ATOMIC_ACQUIRE))
            gyre_futex_wait(&may_go, 0, UINT64_MAX);
    }
    return piece_run(task);
}

START_TEST(a_task_that_does_not_return_holds_nobody_up)
{
    struct cpu_pool *pool = begin(MANY);
    is_held = may_go = 0;
    pieces[0].task.run = held_run; /* it may be in its first run: then this is for the next */
    while (!__atomic_load_n(&is_held, __ATOMIC_ACQUIRE)) {
        const struct timespec nap = {0, 1000000};
        ask(&pieces[0]);
        nanosleep(&nap, NULL);
    }
    for (uint32_t i = 1; i < MANY; i++)
        ask(&pieces[i]);
    for (uint32_t i = 1; i < MANY; i++)
        await(&pieces[i], 1);
    __atomic_store_n(&may_go, 1, __ATOMIC_RELEASE);
    gyre_futex_wake(&may_go, INT_MAX);
    finish(pool, MANY);
}
END_TEST

/* Between a task's last look and its thread's sleep there is room for a ring. */
static enum cpu_task_end rung_run(struct cpu_task *task)
{
    struct piece *piece = piece_of(task);
    const enum cpu_task_end end = piece_run(task);
    if (end == CPU_TASK_RESTS && piece->wanted == 0)
        ask(piece);
    return end;
}

START_TEST(a_ring_before_the_sleep_is_not_missed)
{
    for (int round = 0; round < 100; round++) {
        struct cpu_pool *pool = begin(0);
        present = 1;
        pieces[0] = (struct piece){.task = {.run = rung_run, .has_news = piece_has_news, .processor = -1},
                                   .pool = pool,
                                   .present = &present};
        pieces[0].task.bell = &pieces[0].bell;
        ck_assert_int_eq(cpu_pool_start(pool, &pieces[0].task), 0);
        await(&pieces[0], 1);
        finish(pool, 1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu_pool");
    TCase *tests = tcase_create("tasks");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, tasks_that_rest_share_a_few_threads);
    tcase_add_test(tests, each_ring_is_answered_once);
    tcase_add_test(tests, a_task_that_rests_is_run_when_its_bell_is_rung);
    tcase_add_test(tests, a_task_that_does_not_return_holds_nobody_up);
    tcase_add_test(tests, a_ring_before_the_sleep_is_not_missed);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
