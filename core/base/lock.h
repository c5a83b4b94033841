/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mutex of one word for short critical sections: about 15 ns uncontended, sleeps on a futex when contended.
 *
 * Unlike pthread_mutex_t its unlock is a full barrier (an exchange), and a failed try is one too, which the
 * queues rely on: who leaves work to the lock's holder is seen by it, or gets the lock.
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

#endif
