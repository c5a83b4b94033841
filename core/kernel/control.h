/* SPDX-License-Identifier: Apache-2.0 */
/* The control region of a kernel (memory that it shares with its device), and commands in it. Call under kernel->lock. */
#ifndef GYRE_CORE_KERNEL_CONTROL_H
#define GYRE_CORE_KERNEL_CONTROL_H

#include "core/kernel/kernel.h"
#include "gyre/observe.h"

/**
 * How the device waits for messages: the setting `idle`. Where it is not set, one of very many shards of a cluster parks. What the others spin for
 * would be most of what this machine does.
 */
gyre_idle gyre_control_idle(const gyre_kernel *kernel);
/** Makes the kernel's control region. EXHAUSTED. */
gyre_status gyre_control_create(gyre_kernel *kernel);
/** Zeroes the cache lines of the region that the device writes, for another launch. */
void gyre_control_reset(gyre_kernel *kernel);
/** Writes a new command (`verb`: an enum gyre_verb) for the device. Repeat the last verb to announce a changed queue table. */
void gyre_control_order(gyre_kernel *kernel, uint64_t verb);
/** The events that end a wait for the device early. */
enum gyre_control_yield {
    GYRE_YIELD_TO_NOTHING,
    GYRE_YIELD_TO_STOP, /* CLOSED when the kernel is being terminated */
    GYRE_YIELD_TO_TURN, /* CLOSED when the kernel is being terminated, or another thread waits for its turn */
};
/**
 * Waits until every block obeyed the last command, or a later command. Gives kernel->lock up meanwhile; the kernel is not
 * freed before the wait ends. TIMEOUT, LOST, CLOSED.
 */
gyre_status gyre_control_acknowledged(gyre_kernel *kernel, enum gyre_control_yield yield,
                                      uint64_t deadline_ns);
/** Until when blocks that are to leave their handlers are waited for, from now on. */
struct gyre_control_limits {
    uint64_t handler_ns; /* `stop_timeout_ms`: for a block that is inside a handler */
    uint64_t
        starved_ns; /* `launch_timeout_ms`: for one that is inside none, to which its device gives no time */
};
struct gyre_control_limits gyre_control_limits_of(const gyre_kernel *kernel);
/** As gyre_control_acknowledged, within these limits. */
gyre_status gyre_control_came_back(gyre_kernel *kernel, enum gyre_control_yield yield);
/** Waits within these limits until a device side that was told to stop (`command`: gyre_control_last) has left. Without the lock. */
gyre_status gyre_control_left(gyre_kernel *kernel, gyre_resident *resident, uint64_t command);
/** Sets the error of a wait that began at `since_ns`: TIMEOUT, with the first block that has not obeyed `command`. */
gyre_status gyre_control_tell_timeout(const gyre_kernel *kernel, uint64_t command, uint64_t since_ns);
/** Whether some blocks have not obeyed `command`, and all of these say that they are inside no handler. False in a worker process. */
bool gyre_control_is_starved(const gyre_kernel *kernel, uint64_t command);
const gyre_control_block *gyre_control_blocks(const gyre_kernel *kernel);
/** True when the device died for good. The death of a worker process, which is replaced, counts only if the kernel was given
 * up. */
bool gyre_control_is_lost(const gyre_kernel *kernel);
/** Writes why the device died into `text`, as " (REASON)", or "" when that is not known, or the device lives. Returns text. */
const char *gyre_kernel_why_lost(const gyre_kernel *kernel, char *text, size_t size);
/** The last command, for gyre_control_obeyed. */
uint64_t gyre_control_last(const gyre_kernel *kernel);
/** Whether every block obeyed that command, or a later one. Waits for nothing. */
bool gyre_control_obeyed(const gyre_kernel *kernel, uint64_t command);
/** Adds the counts of blocks that are gone to the kernel's tally. Under the lock. */
void gyre_control_settle_counts(gyre_kernel *kernel);
/** One message of so many is timed, by the kernel and for its own queues; 0: none is. */
uint64_t gyre_control_timed_every(const gyre_kernel *kernel);
/**
 * Adds how long the kernel's handlers ran, as its device counts it, to sum_ns and buckets. Returns which messages it counts, a
 * GYRE_TIMES_; 0: none.
 */
uint64_t gyre_control_times_add(const gyre_kernel *kernel, gyre_observe_histogram *out);
/** The verb of the last command (an enum gyre_verb). */
uint64_t gyre_control_verb(const gyre_kernel *kernel);

/** Leaves the end of the kernel's worker where callers of a lost kernel look for the reason, unless the device said more itself. */
void gyre_kernel_tell_death(const gyre_kernel *kernel, const char *reason);

#endif
