/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks short critical sections that nearly always the same thread enters.
 *
 * An atomic read-modify-write waits until every store before it has reached its cache line: after a batch of
 * stores to slots that the other side looked at, some hundred nanoseconds. So a thread that took the lock a
 * number of times in a row becomes its owner and enters with plain loads and stores: it raises the flag `inside` of its
 * seat and checks that it still is the owner. Another thread takes the word, ends the ownership, runs a heavy barrier
 * (waiting.h) and waits until the owner is out. Then the owner either saw that it lost the ownership, or was seen inside.
 * Each ended ownership doubles the takes that the next one needs. A seat belongs to one thread for good, because a former
 * owner may still raise its flag for a moment before it sees the end of its ownership. When all seats are taken, other
 * threads always take the word.
 *
 * Receivers rely on this: if a thread stores something and then fails to get the lock, the holder sees the store when it
 * looks after giving the lock. A try fails only when another thread has the word. It waits for an owner that is on its way
 * out.
 *
 * Zeroed memory is a free lock that no thread ever owns. Without membarrier a lock stays like that.
 */
#ifndef GYRE_CORE_BASE_LOCK_H
#define GYRE_CORE_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "gyre/waiting.h"

enum { GYRE_LOCK_SEATS = 4 };

struct gyre_lock_seat {
    uintptr_t thread; /* the thread that has the seat, constant once set; 0: the seat is free */
    uint32_t inside;  /* the thread is in its section; only the thread writes this */
};

struct gyre_lock {
    struct gyre_lock_seat *owner; /* the owner's seat, written under the word; NULL: there is no owner */
    struct gyre_lock_seat *seat;  /* the holder's seat; NULL: the holder has the word */
    uint32_t word;                /* 0 free, 1 taken, 2 taken and a thread sleeps */
    /* under the word */
    uint8_t evictions;
    bool may_be_owned; /* constant */
    uint32_t runs;     /* how often the word was taken in a row ... */
    uintptr_t last;    /* ... by this thread */
    struct gyre_lock_seat seats[GYRE_LOCK_SEATS];
};

/** Makes a free lock. `light_barriers`: the result of gyre_barrier_register. */
static inline void gyre_lock_init(struct gyre_lock *lock, int light_barriers)
{
    *lock = (struct gyre_lock){.may_be_owned = light_barriers != 0};
}

/*
 * A number that no other living thread has. It uses no thread-local variable, because a variable that is found as quickly
 * (initial-exec) keeps programs from opening the library at run time, as bindings of other languages do.
 */
static inline uintptr_t gyre_thread_name(void)
{
#if defined(__x86_64__)
    uintptr_t block; /* the address of the thread's control block, which its first word holds */
    __asm__("mov %%fs:0, %0" : "=r"(block));
    return block;
#else
    return (uintptr_t)pthread_self();
#endif
}

void gyre_lock_take_word(struct gyre_lock *lock);
bool gyre_lock_try_word(struct gyre_lock *lock);
void gyre_lock_give_word(struct gyre_lock *lock);

static inline bool gyre_lock_enter(struct gyre_lock *lock)
{
    const uintptr_t me = gyre_thread_name();
    struct gyre_lock_seat *seat = __atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE); /* pairs with begin */
    if (!seat || seat->thread != me)
        return false;
    __atomic_store_n(&seat->inside, 1, __ATOMIC_RELAXED);
    gyre_barrier_light(1); /* pairs with the heavy barrier of the thread that ends the ownership */
    if (__builtin_expect(__atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE) == seat, 1)) {
        lock->seat = seat;
        return true;
    }
    __atomic_store_n(&seat->inside, 0, __ATOMIC_RELEASE);
    return false;
}

static inline void gyre_lock_take(struct gyre_lock *lock)
{
    if (!gyre_lock_enter(lock))
        gyre_lock_take_word(lock);
}

static inline bool gyre_lock_try(struct gyre_lock *lock)
{
    return gyre_lock_enter(lock) || gyre_lock_try_word(lock);
}

static inline void gyre_lock_give(struct gyre_lock *lock)
{
    if (lock->seat)
        __atomic_store_n(&lock->seat->inside, 0, __ATOMIC_RELEASE); /* pairs with the acquire in evict */
    else
        gyre_lock_give_word(lock);
}

#endif
