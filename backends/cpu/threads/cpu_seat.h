/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seats: who runs a stage of a pipeline. Whoever holds the seat of a worker runs the worker: calls its handler, takes from its
 * links, writes its rings. Mostly this is the worker's own thread. Where awake workers outnumber processors it is a thread that
 * has just sent to the sleeping stage: the thread follows its message (cpu_walk.h), which takes nanoseconds where waking the
 * stage's thread takes microseconds.
 *
 * A seat is a lock that visitors only try. A visitor who finds it held knocks, and the holder looks for messages once more
 * before it leaves. So each message is seen by whoever sits when it is published, or by whoever sits next.
 *
 * Seats are found by the control region of their kernel. Their memory lasts until the device is closed, and a seat nobody uses
 * is used for another kernel: a thread that takes such a seat finds another worker there, or none, and both are harmless.
 *
 * Lock: seats->lock guards the lists, and is taken when a worker obeys a command, not for messages. Nothing under it blocks.
 */
#ifndef GYRE_CPU_SEAT_H
#define GYRE_CPU_SEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/backend.h"

struct cpu_worker;
struct cpu_seats;

struct cpu_seat {
    _Alignas(GYRE_LINE_SIZE) uint32_t word; /* futex word: whether the seat is held, and who asks for it */
    uint32_t open;                          /* a hint for senders: there is a worker */
    uint32_t cost_ns;  /* of a message, as measured of late; written by the holder, a hint for senders */
    int32_t processor; /* on which the worker has to run; below 0: any. A hint like `open` */
    uint32_t left;     /* a visitor left messages behind: the worker's thread has to look */
    struct cpu_worker *worker; /* the holder's; NULL: the stage is paused, or gone */
    /* under the lock of all seats: whose seat this is, and how many workers know it */
    const gyre_control_region *control;
    uint32_t block, uses;
    struct cpu_seat *next;
};

/** Messages of a handler that takes longer are left to the stage's own thread: then more processors mean more speed. */
#define CPU_SEAT_COST_MAX_NS 5000

/** `processors`: how many there are for the device's workers and their clients. */
struct cpu_seats *cpu_seats_create(uint32_t processors);
/** Frees all seats; no thread of the device is left. Accepts NULL. */
void cpu_seats_destroy(struct cpu_seats *seats);

/** A worker woke up (1), or is about to sleep (-1). */
void cpu_seats_count_awake(struct cpu_seats *seats, int32_t by);
/** Whether another worker, if it woke up, would find no processor: the workers that are awake and a client have them all. */
bool cpu_seats_are_crowded(const struct cpu_seats *seats);
/** Whether the workers that are awake and a client are more than there are processors. */
bool cpu_seats_are_exceeded(const struct cpu_seats *seats);

/**
 * Returns the seat of a block of the kernel with this control region, new or as others know it; NULL without memory. Each call
 * needs one of cpu_seat_drop, which accepts NULL.
 */
struct cpu_seat *cpu_seat_find(struct cpu_seats *seats, const gyre_control_region *control, uint32_t block);
void cpu_seat_drop(struct cpu_seats *seats, struct cpu_seat *seat);

/** Takes the seat, for the worker's own thread: waits until a visitor has left. */
void cpu_seat_take(struct cpu_seat *seat);
/** Takes the seat when it is free. False: it is held, and its holder looks once more before it leaves. */
bool cpu_seat_try(struct cpu_seat *seat);
/** Leaves the seat, for the worker's own thread. Returns whether somebody knocked: there may be messages to look for. */
bool cpu_seat_leave(struct cpu_seat *seat);
/** Leaves the seat, for a visitor. False: somebody knocked; the visitor still sits, and looks again. */
bool cpu_seat_leave_quietly(struct cpu_seat *seat);

#endif
