/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a device. Some threads run a task, some watch tasks that rest (tasks without messages), and
 * spare threads wait for either.
 *
 * Lock: pool->lock guards every list here; no call under it blocks. A watch (a list of resting tasks) belongs
 * to one thread at a time, and only this thread removes tasks. Other threads only add tasks to the watch and
 * ring the watch's own futex word.
 */
#include "backends/cpu/threads/cpu_pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/lack.h"
#include "gyre/thread.h"
#include "gyre/waiting.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

enum { SIGNAL_STACK_SIZE = 65536 };

/* The layout that Linux defines since 5.16; headers of older C libraries lack it. */
struct futex_word {
    uint64_t expected, address;
    uint32_t flags, reserved;
};
#define FUTEX_WORD_32 2u

/* A list of resting tasks. One thread sleeps at all their bells. */
struct watch {
    uint32_t added; /* futex word: rung when a task was added */
    bool watched;
    uint32_t count;
    struct cpu_task *tasks[CPU_POOL_WATCHED_MAX];
    struct watch *next; /* the next entry of pool->watches */
};

/* What a thread does next: run a task, or watch. With neither the thread ends. */
struct job {
    struct cpu_task *task;
    struct watch *watch;
};

/* A thread without a job. The object lies in that thread's stack. */
struct spare {
    pthread_cond_t called;
    bool has_job;
    struct job job;
    struct spare *next;
};

struct cpu_pool {
    const gyre_host *host;
    size_t stack_size;
    bool can_watch;
    cpu_set_t processors; /* processors that the thread which made the pool may use */
    pthread_mutex_t lock;
    struct spare *spares;
    uint32_t spare_count;
    struct watch *watches;
    struct watch first;       /* most devices need no other watch */
    struct cpu_task *waiting; /* tasks with news for which no thread was found, oldest first */
    bool first_in_use, closing, told_lack;
    uint32_t threads;
    pthread_cond_t thread_ended;
    bool has_ended; /* the thread `ended` is to be joined */
    pthread_t ended;
};

/*
 * A thread's argument. It is made before the thread is started, so that no thread needs memory when it gets a
 * job.
 */
struct thread {
    struct cpu_pool *pool;
    struct job job;
    unsigned char signal_stack
        [SIGNAL_STACK_SIZE]; /* where a program's handler of faults runs when a lane's stack is used up */
};

static void *thread_main(void *argument);

/* ---- sleeping at several bells ---- */

/*
 * Sleeps at several futex words. Returns at once when a word does not have its expected value; otherwise when
 * a word was woken, or early.
 */
static long sleep_at(const struct futex_word *words, uint32_t count)
{
    return syscall(SYS_futex_waitv, words, count, 0, NULL, CLOCK_MONOTONIC);
}

/*
 * Sleeps at several futex words. Where a filter of system calls that the program set up later refuses that,
 * it sleeps for an interval.
 */
static void sleep_or_nap(const struct futex_word *words, uint32_t count)
{
    const struct timespec nap = {0, 1000000};
    if (sleep_at(words, count) < 0 && errno != EAGAIN && errno != EINTR)
        nanosleep(&nap, NULL);
}

/*
 * Whether this Linux can sleep at several words (futex_waitv): it then answers EAGAIN for a word that does
 * not have its expected value.
 */
static bool knows_watching(void)
{
    const uint32_t word = 1;
    const struct futex_word words = {.address = (uintptr_t)&word, .flags = FUTEX_WORD_32};
    return sleep_at(&words, 1) < 0 && errno == EAGAIN;
}

/* ---- threads ---- */

/* Starts a thread with a job. The caller holds the lock. When this returns 0, the new thread has the job. */
static int start_thread(struct cpu_pool *pool, struct job job)
{
    pthread_attr_t attributes;
    pthread_t id;
    struct thread *thread = malloc(sizeof *thread);
    int error = thread ? pthread_attr_init(&attributes) : ENOMEM;
    if (error) {
        free(thread);
        return error;
    }
    thread->pool = pool;
    thread->job = job;
    /* handlers of lane kernels and actors run on this stack */
    pthread_attr_setstacksize(&attributes, pool->stack_size);
    error = gyre_thread_start(&id, &attributes, thread_main, thread);
    pthread_attr_destroy(&attributes);
    if (error)
        free(thread);
    else
        pool->threads++;
    return error;
}

/* Gives the job to a spare thread or to a new thread. The caller holds the lock. */
static int give_job(struct cpu_pool *pool, struct job job)
{
    struct spare *spare = pool->spares;
    if (!spare)
        return start_thread(pool, job);
    pool->spares = spare->next;
    pool->spare_count--;
    spare->job = job;
    spare->has_job = true;
    pthread_cond_signal(&spare->called);
    return 0;
}

/*
 * Keeps a task for which no thread was found; it runs as soon as a thread is free. The caller holds the lock.
 */
static void give_later(struct cpu_pool *pool, struct cpu_task *task, int error)
{
    struct cpu_task **end = &pool->waiting;
    while (*end)
        end = &(*end)->next;
    task->next = NULL;
    *end = task;
    if (!pool->told_lack)
        pool->host->log(
            pool->host->context, GYRE_LOG_WARNING,
            error == ENOMEM
                ? "no memory for another worker thread: a kernel that woke up waits until one is free"
                : "no worker thread could be started: a kernel that woke up waits until one is free; raise the limit "
                  "of processes (ulimit -u, pids.max)");
    pool->told_lack = true;
}

/* Takes a task that no thread could run so far. The caller holds the lock. */
static bool take_waiting(struct cpu_pool *pool, struct job *job)
{
    *job = (struct job){.task = pool->waiting};
    if (job->task) {
        pool->waiting = job->task->next;
        return true;
    }
    for (struct watch *watch = pool->watches; watch && !job->watch; watch = watch->next)
        if (!watch->watched)
            job->watch = watch;
    if (job->watch)
        job->watch->watched = true;
    return job->watch != NULL;
}

/* Waits for a thread's next job. False: the thread is to end. */
static bool next_job(struct cpu_pool *pool, struct job *job)
{
    struct spare self = {.called = PTHREAD_COND_INITIALIZER};
    pthread_mutex_lock(&pool->lock);
    if (!take_waiting(pool, job) && !pool->closing && pool->spare_count < CPU_POOL_SPARES) {
        self.next = pool->spares;
        pool->spares = &self;
        pool->spare_count++;
        while (!self.has_job)
            pthread_cond_wait(&self.called, &pool->lock);
        *job = self.job;
    }
    pthread_mutex_unlock(&pool->lock);
    return job->task || job->watch;
}

/*
 * Gives the thread a stack for signals: a lane that used up its own stack leaves a program's handler of
 * SIGSEGV no room to run. A sanitizer's runtime has given the thread such a stack already, and expects to
 * find it at the end.
 */
static bool take_signal_stack(struct thread *thread)
{
    const stack_t stack = {.ss_sp = thread->signal_stack, .ss_size = sizeof thread->signal_stack};
    stack_t now;
    return sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) && sigaltstack(&stack, NULL) == 0;
}

/* Each thread that ends joins the thread that ended before it, so that at most one is left to join. */
static void end_thread(struct cpu_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    const bool joins = pool->has_ended;
    const pthread_t before = pool->ended;
    pool->ended = pthread_self();
    pool->has_ended = true;
    pool->threads--;
    pthread_cond_broadcast(&pool->thread_ended);
    pthread_mutex_unlock(&pool->lock);
    if (joins)
        pthread_join(before, NULL);
}

/* ---- running ---- */

/*
 * Moves the thread to a processor. If the process may not use that processor, this is no failure: the thread
 * runs where it may.
 */
static void go_to(struct cpu_pool *pool, int processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)processor, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0)
        return;
    pool->host->log(
        pool->host->context, GYRE_LOG_WARNING,
        "pin: this process may not use every processor that is named: a worker thread runs where it may");
    pthread_setaffinity_np(pthread_self(), sizeof pool->processors, &pool->processors);
}

/* Returns a watch that has room, or makes one; NULL without memory. The caller holds the lock. */
static struct watch *watch_with_room(struct cpu_pool *pool)
{
    struct watch *watch = pool->watches;
    while (watch && watch->count == CPU_POOL_WATCHED_MAX)
        watch = watch->next;
    if (watch)
        return watch;
    watch = pool->first_in_use ? calloc(1, sizeof *watch) : &pool->first;
    if (watch) {
        pool->first_in_use = true;
        watch->watched = false;
        watch->next = pool->watches;
        pool->watches = watch;
    }
    return watch;
}

/* Removes a watch from the list and frees it. The caller holds the lock. */
static void drop_watch(struct cpu_pool *pool, struct watch *watch)
{
    struct watch **link = &pool->watches;
    while (*link != watch)
        link = &(*link)->next;
    *link = watch->next;
    if (watch == &pool->first)
        pool->first_in_use = false;
    else
        free(watch);
}

/* Adds the task to a watch. False without memory. */
static bool rest_task(struct cpu_pool *pool, struct cpu_task *task)
{
    pthread_mutex_lock(&pool->lock);
    struct watch *watch = watch_with_room(pool);
    if (watch) {
        watch->tasks[watch->count++] = task;
        gyre_bell_ring(&watch->added, 1);
    }
    pthread_mutex_unlock(&pool->lock);
    return watch != NULL;
}

/* Runs the task until it ends or rests in a watch. */
static void run_task(struct cpu_pool *pool, struct cpu_task *task)
{
    if (task->processor >= 0)
        go_to(pool, task->processor);
    while (task->run(task) == CPU_TASK_RESTS && !rest_task(pool, task))
        /* no watch takes the task: it rests in this thread */
        gyre_futex_wait(task->bell, task->seen, UINT64_MAX);
}

/* ---- watching ---- */

/* Lists the words at which the watching thread sleeps: the watch's own word, then each task's bell. */
static uint32_t list_words(struct cpu_pool *pool, const struct watch *watch, struct futex_word *words)
{
    pthread_mutex_lock(&pool->lock);
    const uint32_t count = watch->count;
    words[0] = (struct futex_word){__atomic_load_n(&watch->added, __ATOMIC_RELAXED), (uintptr_t)&watch->added,
                                   FUTEX_WORD_32, 0};
    for (uint32_t i = 0; i < count; i++)
        words[i + 1] =
            (struct futex_word){watch->tasks[i]->seen, (uintptr_t)watch->tasks[i]->bell, FUTEX_WORD_32, 0};
    pthread_mutex_unlock(&pool->lock);
    return count + 1;
}

/*
 * Whether the bell of a task was rung for this task. The bell is read before the task looks for news, as
 * every sleeper at a bell must do.
 */
static bool was_called(struct cpu_task *task)
{
    const uint32_t now = __atomic_load_n(task->bell, __ATOMIC_ACQUIRE); /* pairs with the ringer's release */
    if (now == task->seen)
        return false;
    task->seen = now;
    return task->has_news(task);
}

/* Takes the tasks that have news out of the watch, as a list. The caller holds the lock. */
static struct cpu_task *take_called(struct watch *watch)
{
    struct cpu_task *called = NULL;
    for (uint32_t i = watch->count; i-- > 0;) {
        struct cpu_task *task = watch->tasks[i];
        if (!was_called(task))
            continue;
        watch->tasks[i] = watch->tasks[--watch->count];
        task->next = called;
        called = task;
    }
    return called;
}

/* Finds threads for the watch and for every task of the list except the first. The caller holds the lock. */
static void share_out(struct cpu_pool *pool, struct watch *watch, struct cpu_task *first)
{
    for (struct cpu_task *task = first->next, *next; task; task = next) {
        next = task->next;
        const int error = give_job(pool, (struct job){.task = task});
        if (error)
            give_later(pool, task, error);
    }
    if (watch->count == 0)
        drop_watch(pool, watch);
    else /* without a free thread, the next thread that becomes free takes the watch */
        watch->watched = give_job(pool, (struct job){.watch = watch}) == 0;
}

/*
 * Watches until a task has news, and returns this task for the calling thread to run. Other tasks with news,
 * and the watch, get other threads.
 */
static struct cpu_task *watch_until_called(struct cpu_pool *pool, struct watch *watch)
{
    struct futex_word words[CPU_POOL_WATCHED_MAX + 1];
    struct cpu_task *called = NULL;
    while (!called) {
        sleep_or_nap(words, list_words(pool, watch, words));
        pthread_mutex_lock(&pool->lock);
        called = take_called(watch);
        if (called)
            share_out(pool, watch, called);
        pthread_mutex_unlock(&pool->lock);
    }
    return called;
}

static void *thread_main(void *argument)
{
    static const stack_t none = {.ss_flags = SS_DISABLE};
    struct thread *thread = argument;
    struct cpu_pool *pool = thread->pool;
    struct job job = thread->job;
    const bool has_stack = take_signal_stack(thread);
    do
        run_task(pool, job.task ? job.task : watch_until_called(pool, job.watch));
    while (next_job(pool, &job));
    if (has_stack)
        sigaltstack(&none, NULL);
    free(thread);
    end_thread(pool);
    return NULL;
}

/* ---- the pool ---- */

struct cpu_pool *cpu_pool_create(const gyre_host *host, size_t stack_size)
{
    struct cpu_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->host = host;
    pool->stack_size = stack_size;
    pool->can_watch = knows_watching();
    sched_getaffinity(0, sizeof pool->processors, &pool->processors);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->thread_ended, NULL);
    return pool;
}

bool cpu_pool_can_watch(const struct cpu_pool *pool)
{
    return pool->can_watch;
}

int cpu_pool_start(struct cpu_pool *pool, struct cpu_task *task)
{
    pthread_mutex_lock(&pool->lock);
    const int error = give_job(pool, (struct job){.task = task});
    pthread_mutex_unlock(&pool->lock);
    return error;
}

void cpu_pool_hand_over(struct cpu_pool *pool, struct cpu_task *task)
{
    pthread_mutex_lock(&pool->lock);
    const int error = give_job(pool, (struct job){.task = task});
    if (error)
        give_later(pool, task, error);
    pthread_mutex_unlock(&pool->lock);
}

uint32_t cpu_pool_processors(const struct cpu_pool *pool)
{
    return (uint32_t)CPU_COUNT(&pool->processors);
}

void cpu_pool_leave(struct cpu_pool *pool, uint32_t *present)
{
    pthread_mutex_lock(&pool->lock);
    /* pairs with the acquire of the waiting thread */
    if (__atomic_sub_fetch(present, 1, __ATOMIC_ACQ_REL) == 0)
        gyre_futex_wake(present, INT_MAX);
    pthread_mutex_unlock(&pool->lock);
}

void cpu_pool_settle(struct cpu_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void cpu_pool_destroy(struct cpu_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    while (pool->spares)
        give_job(pool, (struct job){0});
    while (pool->threads)
        pthread_cond_wait(&pool->thread_ended, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    if (pool->has_ended)
        pthread_join(pool->ended, NULL);
    pthread_cond_destroy(&pool->thread_ended);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
