/* SPDX-License-Identifier: Apache-2.0 */
/* The watchdog of a runtime: a thread that looks for handlers that do not return (stall.h), and at what kernels count for readers
 * in other processes (core/observation). */
#ifndef GYRE_CORE_RECOVERY_WATCHDOG_H
#define GYRE_CORE_RECOVERY_WATCHDOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/gyre.h"

struct gyre_watchdog {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* on the clock of deadlines */
    pthread_t thread;
    bool runs, stop;
    bool look;                    /* a new kernel has to be looked at before the pause is over */
    struct gyre_kernel **kernels; /* visited kernels; only the watchdog's thread uses it and `room` */
    size_t room;
    uint64_t stall_pause_ns,
        observe_ns; /* of the thread alone: between looks for stalls; when to observe next */
    uint64_t sample_ns,
        sample_random; /* of the thread alone: when to look at blocks next, 0: not before the next look at all; for that */
    bool record_wanted; /* atomic: the observation file is to be kept (keep_record.h) */
    uint64_t record_ns; /* of the thread alone: when it was kept last */
    uint64_t missed_ns; /* atomic: how long the program was stopped, so that the watchdog did not look */
};

#endif
