/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the clock of deadlines (gyre_clock_ns) to the form that POSIX calls need. No state, any thread. */
#ifndef GYRE_CORE_BASE_CLOCK_H
#define GYRE_CORE_BASE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/** Converts a point in time of gyre_clock_ns, or a length of time, to a timespec. */
static inline struct timespec gyre_clock_timespec(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/** `time_ns` after the point in time `at_ns`; UINT64_MAX, which is never, where no number says it. */
static inline uint64_t gyre_clock_after(uint64_t at_ns, uint64_t time_ns)
{
    return time_ns < UINT64_MAX - at_ns ? at_ns + time_ns : UINT64_MAX;
}

/** Initializes a condition variable whose timed waits use the clock of gyre_clock_ns. */
static inline void gyre_clock_condition(pthread_cond_t *condition)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &clock);
    pthread_condattr_destroy(&clock);
}

#endif
