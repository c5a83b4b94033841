/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps of events on a device (device_clock.h). */
#include "core/stages/device_clock.h"

#include <stdbool.h>

/* More than clocks of two speeds drift apart while a message is under way. */
static const int64_t DRIFT_NS = 1000000000;

static struct gyre_device_clock_piece *piece_at(struct gyre_device_clock *clock, uint64_t number)
{
    return &clock->pieces[number % GYRE_DEVICE_CLOCK_PIECES];
}

/* 0, where one clock may serve both sides; else the middle of the bounds, which a device that makes up times may have set to any value. */
static int64_t distance_within(const struct gyre_device_event *event)
{
    if (event->low <= 0 && event->high >= 0)
        return 0;
    return (int64_t)((uint64_t)event->low + ((uint64_t)event->high - (uint64_t)event->low) / 2);
}

/* Sees to it that the last piece's distance is one that the bounds allow. */
static void follow_bounds(struct gyre_device_clock *clock, const struct gyre_device_event *event)
{
    const bool is_first = clock->count == 0;
    if (!is_first) {
        const int64_t ahead = piece_at(clock, clock->count - 1)->ahead;
        if (event->low <= ahead && ahead <= event->high)
            return;
    }
    *piece_at(clock, clock->count) =
        (struct gyre_device_clock_piece){.from = is_first ? 0 : clock->last + 1,
                                         .floor = is_first ? 0 : clock->last_stamp + 1,
                                         .ahead = distance_within(event)};
    clock->count++;
}

static const struct gyre_device_clock_piece *piece_of(struct gyre_device_clock *clock, uint64_t time)
{
    const uint64_t kept =
        clock->count < GYRE_DEVICE_CLOCK_PIECES ? clock->count : (uint64_t)GYRE_DEVICE_CLOCK_PIECES;
    uint64_t number = clock->count - 1;
    while (number > clock->count - kept && piece_at(clock, number)->from > time)
        number--;
    return piece_at(clock, number);
}

/* The least stamp of a time, while what the piece's distance says would be a step back. The first piece has none. */
static uint64_t slow_stamp(const struct gyre_device_clock_piece *piece, uint64_t time)
{
    return piece->floor && time > piece->from ? piece->floor + (time - piece->from) / 2 : piece->floor;
}

/*
 * Whether the device's clock may have come to the event's time. A device that makes up times says others, and one of the clock's end would
 * be the last one for good. The bounds are those of the receipt: clocks of two speeds may have been further apart before.
 */
static bool may_be_now(const struct gyre_device_event *event)
{
    const int64_t most = event->high < INT64_MAX - DRIFT_NS ? event->high + DRIFT_NS : INT64_MAX;
    const uint64_t behind = -(uint64_t)most; /* where the device's clock is behind the host's */
    if (most < 0)
        return event->no_later_ns >= behind && event->time <= event->no_later_ns - behind;
    return event->time <= event->no_later_ns || event->time - event->no_later_ns <= (uint64_t)most;
}

uint64_t gyre_device_clock_stamp(struct gyre_device_clock *clock, const struct gyre_device_event *event)
{
    follow_bounds(clock, event);
    const struct gyre_device_clock_piece *piece = piece_of(clock, event->time);
    const uint64_t slow = slow_stamp(piece, event->time);
    uint64_t stamp = event->time - (uint64_t)piece->ahead;
    if (stamp < slow)
        stamp = slow;
    if (stamp > event->no_later_ns)
        stamp = event->no_later_ns;
    if (event->time > clock->last && stamp <= clock->last_stamp)
        stamp = clock->last_stamp + 1;
    if (stamp <= event->after)
        stamp = event->after + 1;
    if (event->time >= clock->last && may_be_now(event)) {
        clock->last = event->time;
        clock->last_stamp = stamp > clock->last_stamp ? stamp : clock->last_stamp;
    }
    return stamp;
}
