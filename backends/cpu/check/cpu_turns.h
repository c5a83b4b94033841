/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns: with any check but `traffic` the workers of a device run one at a time, and a seed decides whose turn it is, which of its
 * messages it handles, and how many. So the same seed is the same run, as long as the same messages are there.
 *
 * The thread of the worker whose turn it is has all of the device for itself, also what other workers keep to themselves. Its turn
 * ends at a message boundary, or inside of a handler where the handler touches state or a buffer (cpu_turns_point). While nobody has
 * work the last thread goes on to look, in place of all others.
 *
 * Commands of the core come before messages, in the order in which workers were launched: which blocks are active does not depend on
 * how fast threads start.
 *
 * Lock: turns->lock guards the list and whose turn it is. Nothing blocks under it.
 */
#ifndef GYRE_CPU_TURNS_H
#define GYRE_CPU_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/backend.h"

struct cpu_touch;
struct cpu_worker;

/** Makes the turns of a device whose checks need them; OK and none otherwise. CONFIG when turns_file cannot be written. */
gyre_status cpu_turns_open(struct gyre_device *device);
/** No worker is left. Writes what is left of the turns_file. */
void cpu_turns_close(struct gyre_device *device);

/** Enters a worker, before its thread starts; the order of these calls is the order of workers. A no-op without turns. */
void cpu_turns_enlist(struct cpu_worker *worker, bool (*has_work)(const struct cpu_worker *worker));
/** The worker has ended, or its thread did not start. */
void cpu_turns_leave(struct cpu_worker *worker);

/** Ends the worker's turn, and waits for its next one. */
void cpu_turns_await(struct cpu_worker *worker);
/**
 * The worker's kernel goes on after a pause: the pause took as long as it takes until the next reminder of the device is due. A no-op
 * without turns. The worker has its turn.
 */
void cpu_turns_resume(struct cpu_worker *worker);
/** What the worker did in its turn: nothing, if false. */
void cpu_turns_did(struct cpu_worker *worker, bool anything);

/** A number below `count`, which follows from the seed; 0 without turns. The worker has its turn. */
uint32_t cpu_turns_pick(struct cpu_worker *worker, uint32_t count);
/** The least of `count` and of the messages that this turn may still be about; `count` without turns. */
uint64_t cpu_turns_most(const struct cpu_worker *worker, uint64_t count);
/** A handler is about to get a message of request `index` of an entry, which came by so many links. For the turns_file, which
 * has the name of the kernel that sent it, too. */
void cpu_turns_note(struct cpu_worker *worker, uint32_t entry, uint64_t index, uint32_t hops);

/**
 * A handler makes an access to state, a buffer or memory of the flow as soon as this returns. The turns_file gets the first ones of the
 * run, a line each, which begins with @. The caller has the lock of the device's checks.
 */
void cpu_turns_note_access(struct cpu_worker *worker, const struct cpu_touch *touch, uint32_t lane);

/** A handler touches state or a buffer: the turn may end here. The caller has the lock of the device's checks. */
void cpu_turns_point(struct cpu_worker *worker, const struct cpu_touch *touch);

/**
 * Everybody waits. If this worker's handler asked for the time since it last leapt, it may wait for a time: makes it later, and true. The
 * caller has the lock of the device's checks.
 */
bool cpu_turns_leap(struct cpu_worker *worker);

/** The time of handlers and reminders: virtual with turns. */
uint64_t cpu_turns_now(const struct cpu_worker *worker);
/** The same for the services of handlers, in a thread whose worker has its turn. */
gyre_u64 cpu_turns_time_ns(void);

#endif
