/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of the core that carries messages to a kernel and back lends this work to the kernel's own threads, for as long
 * as these look for messages anyway (gyre_errand in backend.h). One thread at a time lends. A device that knows no errands
 * counts nobody in `looking`, and nothing is lent to it.
 *
 * Locks: errand->lock is held while a thread of the device works. Whoever lends must not hold a lock that `work` waits for
 * when it takes its work back; `work` only tries locks that are held at such a moment.
 */
#ifndef GYRE_CORE_KERNEL_ERRAND_H
#define GYRE_CORE_KERNEL_ERRAND_H

#include <pthread.h>
#include <stdbool.h>

#include "gyre/backend.h"

/** What a thread of the core lends to the threads of the device. */
struct gyre_kernel_errand {
    gyre_errand shown; /* what the device knows of it; `open` is 1 exactly while `owner` is set */
    pthread_mutex_t lock;
    void *owner; /* who lent its work; NULL: nobody */
    bool (*work)(void *owner);
    uint32_t turns; /* atomic: how often a thread of the device called */
};

void gyre_errand_init(struct gyre_kernel_errand *errand);

/**
 * Lends `work`. False: no thread of the device looks for messages, or another thread lends already. `work` does a little,
 * never waits, and returns whether it did something; it may take the work back by gyre_errand_recall.
 */
bool gyre_errand_lend(struct gyre_kernel_errand *errand, bool (*work)(void *owner), void *owner);

/** Within `work`: takes the work back, and wakes the owner. */
void gyre_errand_recall(struct gyre_kernel_errand *errand);

/** Takes the work back. After the call no thread of the device works for the owner. */
void gyre_errand_take_back(struct gyre_kernel_errand *errand, const void *owner);

/** The owner sleeps until its work is taken back, or until no thread of the device called for `silence_ns`. */
void gyre_errand_await(struct gyre_kernel_errand *errand, uint64_t silence_ns);

#endif
