/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements the slow paths of the lock in lock.h: its futex word, and how a thread becomes its owner or loses that. The word
 * is 0 when free, 1 when taken, 2 when taken with sleepers. Taking the word and giving it are full barriers. Failing to
 * take it is a seq_cst load: who leaves something to the holder stores it with seq_cst before.
 */
#include "core/base/lock.h"

enum {
    SPINS = 100,
    RUNS_MIN = 16,      /* takes in a row that make an owner; each eviction doubles the number ... */
    EVICTIONS_MAX = 10, /* ... up to this many times: a heavy barrier (10 us) is small against 16,384 takes */
    NAP_NS = 20000,
};

static bool try_free_word(struct gyre_lock *lock)
{
    uint32_t free_word = 0;
    return __atomic_compare_exchange_n(&lock->word, &free_word, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void take_word(struct gyre_lock *lock)
{
    if (try_free_word(lock))
        return;
    for (int turn = 0; turn < SPINS; turn++) {
        gyre_spin_pause();
        if (__atomic_load_n(&lock->word, __ATOMIC_RELAXED) == 0 && try_free_word(lock))
            return;
    }
    while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_SEQ_CST) != 0)
        gyre_futex_wait(&lock->word, 2, UINT64_MAX);
}

/* Whether the thread of the seat is inside its section. Pairs with the owner's release when it leaves. */
static bool is_inside(const struct gyre_lock_seat *seat)
{
    return __atomic_load_n(&seat->inside, __ATOMIC_ACQUIRE) != 0;
}

/*
 * Ends an ownership and waits until the owner is out. The calling thread holds the word. It does not spin without end,
 * because the owner may need this very processor to come out.
 */
static void evict(struct gyre_lock *lock)
{
    const struct gyre_lock_seat *owner = lock->owner;
    if (!owner)
        return;
    __atomic_store_n(&lock->owner, NULL, __ATOMIC_RELAXED);
    gyre_barrier_heavy(1); /* pairs with the light one in gyre_lock_enter */
    for (int turn = 0; turn < SPINS && is_inside(owner); turn++)
        gyre_spin_pause();
    while (is_inside(owner))
        nanosleep(&(struct timespec){0, NAP_NS}, NULL);
    if (lock->evictions < EVICTIONS_MAX)
        lock->evictions++;
}

/* Finds or takes the seat of the calling thread; NULL when other threads have all seats. */
static struct gyre_lock_seat *find_seat(struct gyre_lock *lock, uintptr_t me)
{
    for (int i = 0; i < GYRE_LOCK_SEATS; i++) {
        struct gyre_lock_seat *seat = &lock->seats[i];
        if (!seat->thread)
            seat->thread = me;
        if (seat->thread == me)
            return seat;
    }
    return NULL;
}

/* Begins the section of a thread that holds the word, when no other thread is inside. */
static void begin(struct gyre_lock *lock)
{
    const uintptr_t me = gyre_thread_name();
    lock->seat = NULL;
    if (lock->last != me) {
        lock->last = me;
        lock->runs = 0;
    } else if (lock->may_be_owned && ++lock->runs >= (uint32_t)RUNS_MIN << lock->evictions) {
        lock->runs = 0;
        /* release: a thread that looks whether it is the owner sees the seat's name */
        __atomic_store_n(&lock->owner, find_seat(lock, me), __ATOMIC_RELEASE);
    }
}

void gyre_lock_take_word(struct gyre_lock *lock)
{
    take_word(lock);
    evict(lock);
    begin(lock);
}

bool gyre_lock_try_word(struct gyre_lock *lock)
{
    if (!try_free_word(lock))
        return false;
    evict(lock);
    begin(lock);
    return true;
}

void gyre_lock_give_word(struct gyre_lock *lock)
{
    if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_SEQ_CST) == 2)
        gyre_futex_wake(&lock->word, 1);
}
