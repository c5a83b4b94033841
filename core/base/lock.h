/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two mutexes for short critical sections; both sleep on a futex when contended.
 *
 * gyre_lock: one word. Unlike pthread_mutex_t its unlock is a full barrier (an exchange), and a failed try is
 * one too, which receivers rely on: who leaves work to the lock's holder is seen by it, or gets the lock.
 *
 * gyre_release_lock: its unlock is a plain release. A full barrier right after a store to a slot waits until
 * the slot's line has come from the other core; here a thread that is about to sleep pays for the barrier
 * instead (see waiting.h).
 */
#ifndef GYRE_CORE_BASE_LOCK_H
#define GYRE_CORE_BASE_LOCK_H

#include "gyre/waiting.h"

struct gyre_lock {
    uint32_t word; /* 0 free, 1 taken, 2 taken and somebody sleeps */
};

static inline int gyre_lock_try(struct gyre_lock *lock)
{
    uint32_t free_word = 0;
    return __atomic_compare_exchange_n(&lock->word, &free_word, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline void gyre_lock_take(struct gyre_lock *lock)
{
    if (gyre_lock_try(lock))
        return;
    for (int turn = 0; turn < 100; turn++) {
        gyre_spin_pause();
        if (__atomic_load_n(&lock->word, __ATOMIC_RELAXED) == 0 && gyre_lock_try(lock))
            return;
    }
    while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_SEQ_CST) != 0)
        gyre_futex_wait(&lock->word, 2, UINT64_MAX);
}

static inline void gyre_lock_give(struct gyre_lock *lock)
{
    if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_SEQ_CST) == 2)
        gyre_futex_wake(&lock->word, 1);
}

struct gyre_release_lock {
    uint32_t word;     /* 0 free, 1 taken */
    uint32_t sleepers; /* threads about to sleep, or asleep */
};

static inline int gyre_release_lock_try(struct gyre_release_lock *lock)
{
    uint32_t free_word = 0;
    return __atomic_compare_exchange_n(&lock->word, &free_word, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/** `light_barriers` of both calls: what gyre_barrier_register said. */
static inline void gyre_release_lock_take(struct gyre_release_lock *lock, int light_barriers)
{
    if (gyre_release_lock_try(lock))
        return;
    for (int turn = 0; turn < 100; turn++) {
        gyre_spin_pause();
        if (__atomic_load_n(&lock->word, __ATOMIC_RELAXED) == 0 && gyre_release_lock_try(lock))
            return;
    }
    __atomic_fetch_add(&lock->sleepers, 1, __ATOMIC_SEQ_CST);
    gyre_barrier_heavy(light_barriers); /* pairs with the light one in gyre_release_lock_give */
    while (!gyre_release_lock_try(lock))
        gyre_futex_wait(&lock->word, 1, UINT64_MAX);
    __atomic_fetch_sub(&lock->sleepers, 1, __ATOMIC_RELAXED);
}

static inline void gyre_release_lock_give(struct gyre_release_lock *lock, int light_barriers)
{
    __atomic_store_n(&lock->word, 0, __ATOMIC_RELEASE); /* pairs with the acquire of the next try */
    gyre_barrier_light(light_barriers);
    if (__builtin_expect(__atomic_load_n(&lock->sleepers, __ATOMIC_RELAXED) != 0, 0))
        gyre_futex_wake(&lock->word, 1);
}

#endif
