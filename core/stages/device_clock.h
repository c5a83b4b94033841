/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the times of a device's clock to stamps of the host's hybrid logical clock (gyre_trace_stamp), for the messages of one queue.
 *
 * How far the two clocks are apart is known within bounds, which change from message to message. A distance is kept for as long as it
 * is within the bounds. Another one counts only for times that the device's clock comes to later, so a later time of the device never has
 * an earlier stamp, in whatever order the messages of several blocks are received. Events that the device's clock does not tell apart are
 * in order where they are of one message, and else may be 1 apart in either order.
 *
 * No lock: the caller has one.
 */
#ifndef GYRE_CORE_STAGES_DEVICE_CLOCK_H
#define GYRE_CORE_STAGES_DEVICE_CLOCK_H

#include <stdint.h>

enum { GYRE_DEVICE_CLOCK_PIECES = 8 };

/** From the device's time `from` on, its clock is `ahead` of the host's; where that were a step back, stamps go on from `floor` at half the
 * clock's speed until they are right. */
struct gyre_device_clock_piece {
    uint64_t from, floor;
    int64_t ahead;
};

/** All zeros at first. */
struct gyre_device_clock {
    struct gyre_device_clock_piece pieces[GYRE_DEVICE_CLOCK_PIECES]; /* a ring: the last ones of `count` */
    uint64_t count;
    uint64_t last, last_stamp; /* the latest time of the device that has a stamp, and that stamp */
};

/** What the host knows of an event on the device. */
struct gyre_device_event {
    uint64_t time;        /* by the device's clock */
    int64_t low, high;    /* how far the device's clock is ahead: bounds */
    uint64_t after;       /* the stamp of an event that came before */
    uint64_t no_later_ns; /* when the host knew of it, by its own clock */
};

/**
 * The stamp of the event: above `after`; else no later than `no_later_ns`, and no earlier than those of events that were earlier by the
 * device's clock. Whatever a device says, the stamp is at most 1 above the latest of `after`, `no_later_ns` and the stamps given before.
 */
uint64_t gyre_device_clock_stamp(struct gyre_device_clock *clock, const struct gyre_device_event *event);

#endif
