/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the code under test calls: the functions that -fsanitize=thread puts before its accesses, and what the linker's --wrap takes from it:
 * system calls, clocks, copies of memory.
 */
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include <linux/futex.h>

#include "machine.h"
#include "sites.h"

/* ---- plain accesses ---- */

#define PLAIN(size_)                                                                                         \
    void __tsan_read##size_(void *at);                                                                       \
    void __tsan_read##size_(void *at)                                                                        \
    {                                                                                                        \
        machine_plain(at, size_, false);                                                                     \
    }                                                                                                        \
    void __tsan_write##size_(void *at);                                                                      \
    void __tsan_write##size_(void *at)                                                                       \
    {                                                                                                        \
        machine_plain(at, size_, true);                                                                      \
    }                                                                                                        \
    void __tsan_unaligned_read##size_(void *at);                                                             \
    void __tsan_unaligned_read##size_(void *at)                                                              \
    {                                                                                                        \
        machine_plain(at, size_, false);                                                                     \
    }                                                                                                        \
    void __tsan_unaligned_write##size_(void *at);                                                            \
    void __tsan_unaligned_write##size_(void *at)                                                             \
    {                                                                                                        \
        machine_plain(at, size_, true);                                                                      \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *at, size_t size);
void __tsan_read_range(void *at, size_t size)
{
    machine_plain(at, size, false);
}

void __tsan_write_range(void *at, size_t size);
void __tsan_write_range(void *at, size_t size)
{
    machine_plain(at, size, true);
}

void __tsan_init(void);
void __tsan_init(void)
{
}

/* ---- atomic operations. Outside of a run, while a case is made, they are what they are. ---- */

#define CHANGE(bits_, type_, name_, what_, builtin_)                                                         \
    type_ __tsan_atomic##bits_##_##name_(volatile type_ *at, type_ value, int order);                        \
    type_ __tsan_atomic##bits_##_##name_(volatile type_ *at, type_ value, int order)                         \
    {                                                                                                        \
        const void *const site = __builtin_return_address(0);                                                \
        if (!machine_self())                                                                                 \
            return builtin_(at, value, __ATOMIC_SEQ_CST);                                                    \
        if (sites_leave_out(site, SITE_CHANGE))                                                              \
            return (type_)machine_load(at, sizeof *at, order);                                               \
        if (!sites_tear(site, SITE_CHANGE))                                                                  \
            return (type_)machine_change(at, sizeof *at, what_, value,                                       \
                                         sites_order(site, SITE_CHANGE, order));                             \
        const uint64_t old = machine_load(at, sizeof *at, order);                                            \
        machine_store(at, sizeof *at, machine_changed(what_, old, value), order);                            \
        return (type_)old;                                                                                   \
    }
#define SWAP(bits_, type_, name_)                                                                            \
    int __tsan_atomic##bits_##_compare_exchange_##name_(volatile type_ *at, type_ *expected, type_ value,    \
                                                        int order, int otherwise);                           \
    int __tsan_atomic##bits_##_compare_exchange_##name_(volatile type_ *at, type_ *expected, type_ value,    \
                                                        int order, int otherwise)                            \
    {                                                                                                        \
        uint64_t was = *expected;                                                                            \
        if (!machine_self())                                                                                 \
            return __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
        const void *const site = __builtin_return_address(0);                                                \
        int is_changed;                                                                                      \
        if (sites_tear(site, SITE_SWAP)) {                                                                   \
            const uint64_t now = machine_load(at, sizeof *at, order);                                        \
            is_changed = now == was;                                                                         \
            if (is_changed)                                                                                  \
                machine_store(at, sizeof *at, value, order);                                                 \
            was = now;                                                                                       \
        } else {                                                                                             \
            is_changed =                                                                                     \
                machine_swap(at, sizeof *at, &was, value, sites_order(site, SITE_SWAP, order), otherwise);   \
        }                                                                                                    \
        *expected = (type_)was;                                                                              \
        return is_changed;                                                                                   \
    }
#define ATOMIC(bits_, type_)                                                                                 \
    type_ __tsan_atomic##bits_##_load(const volatile type_ *at, int order);                                  \
    type_ __tsan_atomic##bits_##_load(const volatile type_ *at, int order)                                   \
    {                                                                                                        \
        const void *const site = __builtin_return_address(0);                                                \
        return machine_self() ? (type_)machine_load(at, sizeof *at, sites_order(site, SITE_LOAD, order))     \
                              : *at;                                                                         \
    }                                                                                                        \
    void __tsan_atomic##bits_##_store(volatile type_ *at, type_ value, int order);                           \
    void __tsan_atomic##bits_##_store(volatile type_ *at, type_ value, int order)                            \
    {                                                                                                        \
        const void *const site = __builtin_return_address(0);                                                \
        if (!machine_self())                                                                                 \
            *at = value;                                                                                     \
        else if (!sites_leave_out(site, SITE_STORE))                                                         \
            machine_store(at, sizeof *at, value, sites_order(site, SITE_STORE, order));                      \
    }                                                                                                        \
    CHANGE(bits_, type_, exchange, CHANGE_SET, __atomic_exchange_n)                                          \
    CHANGE(bits_, type_, fetch_add, CHANGE_ADD, __atomic_fetch_add)                                          \
    CHANGE(bits_, type_, fetch_sub, CHANGE_SUB, __atomic_fetch_sub)                                          \
    CHANGE(bits_, type_, fetch_and, CHANGE_AND, __atomic_fetch_and)                                          \
    CHANGE(bits_, type_, fetch_or, CHANGE_OR, __atomic_fetch_or)                                             \
    CHANGE(bits_, type_, fetch_xor, CHANGE_XOR, __atomic_fetch_xor)                                          \
    SWAP(bits_, type_, strong)                                                                               \
    SWAP(bits_, type_, weak)
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    if (machine_self() && !sites_leave_out(__builtin_return_address(0), SITE_FENCE))
        machine_fence(order);
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order; /* for the compiler alone */
}

/* ---- the system ---- */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    uint32_t *const word = va_arg(arguments, uint32_t *);
    const int operation = va_arg(arguments, int) & FUTEX_CMD_MASK;
    const uint32_t value = va_arg(arguments, uint32_t);
    va_end(arguments);
    const enum site_kind kind = number == SYS_membarrier ? SITE_FENCE : SITE_WAKE;
    const bool is_wait = number == SYS_futex && operation != FUTEX_WAKE;
    if (!machine_self())
        return 0; /* the registration for barriers */
    if (!is_wait && sites_leave_out(__builtin_return_address(0), kind))
        return 0;
    if (number == SYS_membarrier)
        machine_barrier_of_all();
    else if (number == SYS_futex && (operation == FUTEX_WAIT_BITSET || operation == FUTEX_WAIT))
        machine_sleep(word, value);
    else if (number == SYS_futex && operation == FUTEX_WAKE)
        machine_wake(word, (int)value);
    else
        machine_fail("a system call that the machine does not know: %ld", number);
    return 0;
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!machine_self())
        return __real_clock_gettime(clock, now);
    const uint64_t ns = machine_clock_ns();
    now->tv_sec = (time_t)(ns / 1000000000);
    now->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

int __real_sched_yield(void);
int __wrap_sched_yield(void);
int __wrap_sched_yield(void)
{
    if (!machine_self())
        return __real_sched_yield();
    machine_yield();
    return 0;
}

int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!machine_self())
        return __real_nanosleep(time, left);
    machine_yield();
    return 0;
}

/* A mutex is a word that is taken and given; its first word is 0 when it is free. */
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    uint64_t free_word = 0;
    if (!machine_self())
        return __real_pthread_mutex_lock(mutex);
    while (!machine_swap(mutex, sizeof(uint32_t), &free_word, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        free_word = 0;
        machine_yield();
    }
    return 0;
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (!machine_self())
        return __real_pthread_mutex_unlock(mutex);
    machine_store(mutex, sizeof(uint32_t), 0, __ATOMIC_RELEASE);
    return 0;
}

pthread_t __real_pthread_self(void);
pthread_t __wrap_pthread_self(void);
pthread_t __wrap_pthread_self(void)
{
    return machine_self() ? machine_self() : __real_pthread_self();
}

/* ---- copies, which are calls ---- */

void *__real_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size)
{
    machine_plain(from, size, false);
    machine_plain(to, size, true);
    return __real_memcpy(to, from, size);
}

void *__real_memset(void *to, int byte, size_t size);
void *__wrap_memset(void *to, int byte, size_t size);
void *__wrap_memset(void *to, int byte, size_t size)
{
    machine_plain(to, size, true);
    return __real_memset(to, byte, size);
}
