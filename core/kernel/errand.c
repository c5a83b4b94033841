/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lends work of the core to threads of the device (errand.h). A thread of the device that goes to sleep leaves `looking`
 * and then looks at `open`; a thread that lends sets `open` and then looks at `looking`. All four are sequentially
 * consistent, so one of the two sees the other, and lent work never lies there while nobody looks.
 */
#include "core/kernel/errand.h"

#include <limits.h>
#include <stddef.h>

#include "gyre/waiting.h"

static struct gyre_kernel_errand *errand_of(gyre_errand *shown)
{
    return (struct gyre_kernel_errand *)(void *)((unsigned char *)shown -
                                                 offsetof(struct gyre_kernel_errand, shown));
}

static int run(gyre_errand *shown)
{
    struct gyre_kernel_errand *errand = errand_of(shown);
    if (pthread_mutex_trylock(&errand->lock) != 0)
        return 0;
    __atomic_fetch_add(&errand->turns, 1, __ATOMIC_RELAXED); /* a hint for gyre_errand_await */
    const bool worked = errand->owner && errand->work(errand->owner);
    pthread_mutex_unlock(&errand->lock);
    return worked;
}

void gyre_errand_recall(struct gyre_kernel_errand *errand)
{
    errand->owner = NULL;
    __atomic_store_n(&errand->shown.open, 0, __ATOMIC_SEQ_CST);
    gyre_futex_wake(&errand->shown.open, INT_MAX);
}

static void leave(gyre_errand *shown)
{
    struct gyre_kernel_errand *errand = errand_of(shown);
    pthread_mutex_lock(&errand->lock);
    if (errand->owner && !__atomic_load_n(&shown->looking, __ATOMIC_SEQ_CST))
        gyre_errand_recall(errand);
    pthread_mutex_unlock(&errand->lock);
}

void gyre_errand_init(struct gyre_kernel_errand *errand)
{
    pthread_mutex_init(&errand->lock, NULL);
    errand->shown.run = run;
    errand->shown.leave = leave;
}

bool gyre_errand_lend(struct gyre_kernel_errand *errand, bool (*work)(void *owner), void *owner)
{
    pthread_mutex_lock(&errand->lock);
    const bool free = !errand->owner && __atomic_load_n(&errand->shown.looking, __ATOMIC_SEQ_CST);
    if (free) {
        errand->owner = owner;
        errand->work = work;
        __atomic_store_n(&errand->shown.open, 1, __ATOMIC_SEQ_CST);
        if (!__atomic_load_n(&errand->shown.looking, __ATOMIC_SEQ_CST))
            gyre_errand_recall(errand);
    }
    const bool lent = errand->owner == owner;
    pthread_mutex_unlock(&errand->lock);
    return lent;
}

void gyre_errand_take_back(struct gyre_kernel_errand *errand, const void *owner)
{
    pthread_mutex_lock(&errand->lock);
    if (errand->owner == owner)
        gyre_errand_recall(errand);
    pthread_mutex_unlock(&errand->lock);
}

void gyre_errand_await(struct gyre_kernel_errand *errand, uint64_t silence_ns)
{
    uint32_t seen = __atomic_load_n(&errand->turns, __ATOMIC_RELAXED), turns = seen;
    do {
        seen = turns;
        gyre_futex_wait(&errand->shown.open, 1, gyre_clock_ns() + silence_ns);
        turns = __atomic_load_n(&errand->turns, __ATOMIC_RELAXED);
    } while (turns != seen && __atomic_load_n(&errand->shown.open, __ATOMIC_ACQUIRE));
}
