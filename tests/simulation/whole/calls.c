/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that Gyre makes to the system, as the scheduler has them (schedule.h): linked in their place by --wrap.
 * Real are the files, except that a program may die in the midst of a write; threads, which wait for their turn; and
 * mutexes, of which nobody ever waits for one with the turn.
 */
#include "calls.h"
#include "schedule.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* name, result, parameters: what is wrapped, and the call behind it. */
#define WRAP(result, name, ...)                                                                              \
    result __real_##name(__VA_ARGS__);                                                                       \
    result __wrap_##name(__VA_ARGS__);                                                                       \
    result __wrap_##name(__VA_ARGS__)

static uint64_t in_ns(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * UINT64_C(1000000000) + (uint64_t)time->tv_nsec;
}

/* Before the simulation begins, and in its parent, everything is as it is. */
static bool real(void)
{
    return !schedule_self();
}

/* ---- time ---- */

WRAP(int, clock_gettime, clockid_t clock, struct timespec *time)
{
    if (real())
        return __real_clock_gettime(clock, time);
    schedule_step();
    time->tv_sec = (time_t)(schedule_now_ns() / UINT64_C(1000000000));
    time->tv_nsec = (long)(schedule_now_ns() % UINT64_C(1000000000));
    return 0;
}

WRAP(int, nanosleep, const struct timespec *length, struct timespec *left)
{
    if (real())
        return __real_nanosleep(length, left);
    schedule_step();
    schedule_sleep(NULL, schedule_now_ns() + in_ns(length));
    return 0;
}

WRAP(int, usleep, useconds_t length)
{
    if (real())
        return __real_usleep(length);
    schedule_step();
    schedule_sleep(NULL, schedule_now_ns() + (uint64_t)length * 1000);
    return 0;
}

WRAP(int, sched_yield, void)
{
    if (real())
        return __real_sched_yield();
    schedule_step();
    return 0;
}

/* ---- mutexes and conditions ---- */

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);

static void lock(pthread_mutex_t *mutex)
{
    while (pthread_mutex_trylock(mutex) == EBUSY)
        schedule_sleep(mutex, SCHEDULE_NEVER);
}

static void unlock(pthread_mutex_t *mutex)
{
    __real_pthread_mutex_unlock(mutex);
    schedule_wake(mutex, 1);
}

WRAP(int, pthread_mutex_lock, pthread_mutex_t *mutex)
{
    if (real())
        return __real_pthread_mutex_lock(mutex);
    schedule_step();
    lock(mutex);
    return 0;
}

WRAP(int, pthread_mutex_unlock, pthread_mutex_t *mutex)
{
    if (real())
        return __real_pthread_mutex_unlock(mutex);
    unlock(mutex);
    schedule_step();
    return 0;
}

static int wait_at(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline_ns)
{
    schedule_step();
    unlock(mutex);
    const bool woken = schedule_sleep(condition, deadline_ns);
    lock(mutex);
    return woken ? 0 : ETIMEDOUT;
}

WRAP(int, pthread_cond_wait, pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (real())
        return __real_pthread_cond_wait(condition, mutex);
    return wait_at(condition, mutex, SCHEDULE_NEVER);
}

WRAP(int, pthread_cond_timedwait, pthread_cond_t *condition, pthread_mutex_t *mutex,
     const struct timespec *until)
{
    if (real())
        return __real_pthread_cond_timedwait(condition, mutex, until);
    return wait_at(condition, mutex, in_ns(until));
}

WRAP(int, pthread_cond_signal, pthread_cond_t *condition)
{
    if (real())
        return __real_pthread_cond_signal(condition);
    schedule_wake(condition, 1);
    schedule_step();
    return 0;
}

WRAP(int, pthread_cond_broadcast, pthread_cond_t *condition)
{
    if (real())
        return __real_pthread_cond_broadcast(condition);
    schedule_wake(condition, INT32_MAX);
    schedule_step();
    return 0;
}

WRAP(int, pthread_once, pthread_once_t *once, void (*run)(void))
{
    schedule_hold(); /* who comes second would wait for the first one with the turn */
    const int error = __real_pthread_once(once, run);
    schedule_let_go();
    return error;
}

/* ---- threads ---- */

struct start {
    struct schedule_thread *thread;
    void *(*run)(void *argument);
    void *argument;
};

/* Which thread of the scheduler a thread is: a few, and none is forgotten. */
enum { STARTED_MAX = 512 };
static struct {
    pthread_t real;
    struct schedule_thread *thread;
} started[STARTED_MAX];
static size_t started_count;

static void *run_thread(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    schedule_enter(start.thread);
    void *result = start.run(start.argument);
    schedule_leave();
    return result;
}

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
     void *argument)
{
    if (real())
        return __real_pthread_create(thread, attributes, run, argument);
    struct start *start = malloc(sizeof *start);
    if (!start)
        return EAGAIN;
    *start = (struct start){schedule_add(), run, argument};
    started[started_count].thread = start->thread;
    const int error = __real_pthread_create(thread, attributes, run_thread, start);
    if (error)
        schedule_fail("the machine has no thread for the simulation");
    started[started_count++].real = *thread;
    schedule_step();
    return 0;
}

/* The last one of that name: names are given again. */
static struct schedule_thread *find_thread(pthread_t thread)
{
    for (size_t i = started_count; i-- > 0;)
        if (pthread_equal(started[i].real, thread))
            return started[i].thread;
    schedule_fail("a thread is joined that was never started");
}

WRAP(int, pthread_join, pthread_t thread, void **result)
{
    if (real())
        return __real_pthread_join(thread, result);
    struct schedule_thread *joined = find_thread(thread);
    while (!schedule_has_left(joined))
        schedule_sleep(joined, SCHEDULE_NEVER);
    return __real_pthread_join(thread, result);
}

/* ---- futexes, and descriptors ---- */

static long wait_at_word(const uint32_t *word, uint32_t expected, const struct timespec *until)
{
    schedule_step();
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != expected) {
        errno = EAGAIN;
        return -1;
    }
    schedule_sleep(word, until ? in_ns(until) : SCHEDULE_NEVER);
    return 0;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long given[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        given[i] = va_arg(args, long);
    va_end(args);
    if (!real() && number == SYS_membarrier)
        return 0; /* every step is one */
    if (real() || number != SYS_futex)
        return __real_syscall(number, given[0], given[1], given[2], given[3], given[4], given[5]);
    if ((int)given[1] == FUTEX_WAIT_BITSET)
        return wait_at_word((const uint32_t *)given[0], (uint32_t)given[2],
                            (const struct timespec *)given[3]);
    if ((int)given[1] != FUTEX_WAKE)
        schedule_fail("futex operation %ld is not simulated", given[1]);
    const long woken = schedule_wake((const void *)given[0], (int)given[2]);
    schedule_step();
    return woken;
}

WRAP(int, ppoll, struct pollfd *polled, nfds_t count, const struct timespec *length, const sigset_t *signals)
{
    static const struct timespec at_once;
    enum { LOOK_NS = 100000 };
    if (real())
        return __real_ppoll(polled, count, length, signals);
    const uint64_t until_ns = length ? schedule_now_ns() + in_ns(length) : SCHEDULE_NEVER;
    for (;;) {
        const int ready = __real_ppoll(polled, count, &at_once, signals);
        if (ready != 0 || schedule_now_ns() >= until_ns)
            return ready;
        schedule_sleep(NULL, schedule_now_ns() + LOOK_NS);
    }
}

/* ---- files: the program may die before, in and behind each change, and the disk may refuse it ---- */

static uint64_t refusals;

void calls_refuse(uint64_t one_in)
{
    refusals = one_in;
}

static bool is_refused(int error)
{
    if (real() || !refusals || schedule_draw(refusals) != 0)
        return false;
    errno = error;
    return true;
}

WRAP(ssize_t, pwrite, int file, const void *bytes, size_t size, off_t at)
{
    if (!schedule_step_dies())
        return is_refused(ENOSPC) ? -1 : __real_pwrite(file, bytes, is_refused(0) ? size / 2 : size, at);
    if (__real_pwrite(file, bytes, schedule_draw(size + 1), at) >= 0)
        schedule_die();
    schedule_die();
}

WRAP(int, rename, const char *from, const char *to)
{
    schedule_step();
    if (is_refused(EIO))
        return -1;
    const int error = __real_rename(from, to);
    schedule_step();
    return error;
}

WRAP(int, ftruncate, int file, off_t size)
{
    schedule_step();
    const int error = __real_ftruncate(file, size);
    schedule_step();
    return error;
}

/* A program that dies loses nothing that it wrote; what a loss of power does is simulated by power.c. */
WRAP(int, fsync, int file)
{
    if (real())
        return __real_fsync(file);
    schedule_step();
    return is_refused(EIO) ? -1 : 0;
}

WRAP(int, fdatasync, int file)
{
    if (real())
        return __real_fdatasync(file);
    schedule_step();
    return is_refused(EIO) ? -1 : 0;
}
