/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that follows its messages. What a worker emits to a sleeping stage is handled by the worker's own thread where a
 * thread that woke up would find no processor (cpu_links.c decides): it takes the seat of that stage, runs it, and goes on to
 * the stages that this one sent to. A chain of stages becomes a row of calls.
 *
 * A walk is short: after so many visits, or so long as messages of these stages usually take, the rest is left to the stages' own
 * threads. Whoever stays longer, because a handler takes longer than ever before, is relieved (cpu_relief.h).
 */
#ifndef GYRE_CPU_WALK_H
#define GYRE_CPU_WALK_H

#include <stdbool.h>
#include <stdint.h>

struct cpu_seat;
struct cpu_visitor;
struct cpu_worker;

enum { CPU_WALK_MAX = 16 };

/** The stages that a thread is about to visit, the next one last. Zeroed at first. */
struct cpu_walk {
    struct cpu_seat *seats[CPU_WALK_MAX];
    uint32_t count, visits;
    uint64_t spent_ns;
};

/** Nobody visits the worker any more, and it visits nobody. Called by its own thread before it obeys a command. */
void cpu_walk_shut(struct cpu_worker *worker);
/** The worker of a running stage may be visited, and visits others. Its own thread calls it, when it has read its table. */
void cpu_walk_open(struct cpu_worker *worker);

/** Takes over which stages the worker, whose seat the caller holds, has sent to. */
void cpu_walk_collect(struct cpu_walk *walk, struct cpu_worker *worker);
/**
 * Visits these stages. The caller runs the worker, and holds no seat. False: another thread runs the worker by now, and
 * the caller touches nothing of it any more.
 */
bool cpu_walk_go(struct cpu_walk *walk, struct cpu_worker *worker, struct cpu_visitor *visitor);

#endif
