/* SPDX-License-Identifier: Apache-2.0 */
/* Seats of workers (cpu_seat.h): the lock of one seat, and the list of all. tests/models/link_seat.pml is the lock's model. */
#include "backends/cpu/threads/cpu_seat.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "backends/cpu/cpu_lines.h"
#include "gyre/waiting.h"

enum {
    HELD = 1,
    KNOCKED = 2, /* somebody who published a message found the seat held */
    WAITED = 4   /* the worker's own thread sleeps until the seat is free */
};

/* ---- the lock ---- */

/*
 * Each of these steps is a read-modify-write of the word. So they have one order, in which a knock comes before the step that
 * frees the seat, whose author then looks again, or after it, and then the seat was free for whoever knocked.
 */

void cpu_seat_take(struct cpu_seat *seat)
{
    uint32_t word = 0;
    for (;;) {
        if (!(word & HELD)) { /* a knock is forgotten: who takes the seat looks for messages afterwards */
            if (__atomic_compare_exchange_n(&seat->word, &word, HELD, false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_RELAXED))
                return;
        } else if (word & WAITED || __atomic_compare_exchange_n(&seat->word, &word, word | WAITED, false,
                                                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            gyre_futex_wait(&seat->word, word | WAITED, UINT64_MAX);
            word = __atomic_load_n(&seat->word, __ATOMIC_RELAXED);
        }
    }
}

bool cpu_seat_try(struct cpu_seat *seat)
{
    uint32_t free = 0, knocked = KNOCKED;
    if (__atomic_compare_exchange_n(&seat->word, &free, HELD, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return true;
    if (__atomic_fetch_or(&seat->word, KNOCKED, __ATOMIC_ACQ_REL) & HELD)
        return false;
    /* free by now; another thread that takes it first has seen the knock, and looks afterwards */
    return __atomic_compare_exchange_n(&seat->word, &knocked, HELD, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

bool cpu_seat_leave(struct cpu_seat *seat)
{
    return __atomic_exchange_n(&seat->word, 0, __ATOMIC_ACQ_REL) & KNOCKED;
}

bool cpu_seat_leave_quietly(struct cpu_seat *seat)
{
    uint32_t word = HELD;
    if (__atomic_compare_exchange_n(&seat->word, &word, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return true;
    if (!(word & WAITED)) {
        __atomic_fetch_and(&seat->word, ~(uint32_t)KNOCKED, __ATOMIC_ACQ_REL);
        return false;
    }
    /* the worker's own thread looks for messages when it has the seat */
    __atomic_exchange_n(&seat->word, 0, __ATOMIC_ACQ_REL);
    gyre_futex_wake(&seat->word, 1);
    return true;
}

/* ---- all seats ---- */

struct cpu_seats {
    uint32_t processors;
    int32_t awake; /* workers that do not sleep */
    pthread_mutex_t lock;
    struct cpu_seat *used, *spare;
};

struct cpu_seats *cpu_seats_create(uint32_t processors)
{
    struct cpu_seats *seats = cpu_lines_alloc(1, sizeof *seats);
    if (!seats)
        return NULL;
    seats->processors = processors;
    pthread_mutex_init(&seats->lock, NULL);
    return seats;
}

void cpu_seats_count_awake(struct cpu_seats *seats, int32_t by)
{
    __atomic_fetch_add(&seats->awake, by,
                       __ATOMIC_RELAXED); /* relaxed: a measure of load, nothing follows from it */
}

static int64_t count_free(const struct cpu_seats *seats)
{
    return (int64_t)seats->processors - 1 - __atomic_load_n(&seats->awake, __ATOMIC_RELAXED);
}

bool cpu_seats_are_crowded(const struct cpu_seats *seats)
{
    return count_free(seats) < 1;
}

bool cpu_seats_are_exceeded(const struct cpu_seats *seats)
{
    return count_free(seats) < 0;
}

static void free_list(struct cpu_seat *seat)
{
    for (struct cpu_seat *next; seat; seat = next) {
        next = seat->next;
        free(seat);
    }
}

void cpu_seats_destroy(struct cpu_seats *seats)
{
    if (!seats)
        return;
    free_list(seats->used);
    free_list(seats->spare);
    pthread_mutex_destroy(&seats->lock);
    free(seats);
}

/* Returns a seat that nobody uses, as the first of the used ones; NULL without memory. The caller holds the lock. */
static struct cpu_seat *add_seat(struct cpu_seats *seats)
{
    struct cpu_seat *seat = seats->spare;
    if (seat)
        seats->spare = seat->next;
    else
        seat = cpu_lines_alloc(1, sizeof *seat);
    if (seat) {
        seat->next = seats->used;
        seats->used = seat;
    }
    return seat;
}

struct cpu_seat *cpu_seat_find(struct cpu_seats *seats, const gyre_control_region *control, uint32_t block)
{
    pthread_mutex_lock(&seats->lock);
    struct cpu_seat *seat = seats->used;
    while (seat && (seat->control != control || seat->block != block))
        seat = seat->next;
    if (!seat)
        seat = add_seat(seats);
    if (seat) {
        seat->control = control;
        seat->block = block;
        seat->uses++;
    }
    pthread_mutex_unlock(&seats->lock);
    return seat;
}

void cpu_seat_drop(struct cpu_seats *seats, struct cpu_seat *seat)
{
    if (!seat)
        return;
    pthread_mutex_lock(&seats->lock);
    if (--seat->uses == 0) {
        struct cpu_seat **link = &seats->used;
        while (*link != seat)
            link = &(*link)->next;
        *link = seat->next;
        seat->next = seats->spare;
        seats->spare = seat;
    }
    pthread_mutex_unlock(&seats->lock);
}
