/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells of a mistake that a check found: fails the message with a short text, and the log gets the whole sentence once
 * for each pair of places. The caller holds the lock of the device's checks.
 */
#ifndef GYRE_CPU_FINDING_H
#define GYRE_CPU_FINDING_H

#include "backends/cpu/lanes/cpu_lane.h"
#include "backends/cpu/check/cpu_shadow.h"
#include "backends/cpu/check/cpu_touch.h"
#include "gyre/dialect/cpu_module.h"
#include "gyre/dialect/cpu_watch.h"

struct cpu_worker;

/** The access races with an earlier one. `earlier->address`: the first byte of the access that both touch. */
void cpu_finding_race(gyre_context *context, const struct cpu_touch *touch,
                      const struct cpu_earlier *earlier);

/** Lanes wait at different barriers, or wait for lanes that ended: a cpu_lanes_tell. */
void cpu_finding_deadlock(gyre_context *context, const char *const *places, uint32_t count);

/** Adds to a list where the handler of a worker waits, and for what. The caller has the lock of the device's checks. */
void cpu_finding_add_waiter(const struct cpu_worker *worker, const void *code, const char *what, char *list,
                            size_t size);
/** Handlers wait for each other, or for nobody: logs the list of them. */
void cpu_finding_waiters(const struct cpu_worker *worker, const char *list);
/** Fails a message whose handler waits for ever at this place. */
void cpu_finding_stuck(gyre_context *context, const void *code);
/** A lane other than the first one of a block emits a message. */
void cpu_finding_emits(gyre_context *context, const void *code);
/** Some lanes of a message return GYRE_MORE, `asked` of them, and others do not. */
void cpu_finding_more(gyre_context *context, uint32_t asked);
/** Writes "FILE:LINE (`...`)", the place of an instruction of a handler with its text. */
void cpu_finding_place(const struct cpu_worker *worker, const void *code, char *text, size_t size);
/** Writes where a lane waits: `place` is that of the barrier, and `code` the lane's instruction. */
void cpu_finding_barrier(const struct cpu_worker *worker, const char *place, const void *code, char *text,
                         size_t size);
/** Writes which memory an access is to: "state->count". */
void cpu_finding_memory(const struct cpu_worker *worker, const struct cpu_touch *touch, char *text,
                        size_t size);

/** Two runs of a message that differ. */
struct cpu_difference {
    uint64_t seeds[2];
    int results[2];         /* outcomes */
    const void *replies[2]; /* where the outcome is a reply */
    struct cpu_switches switches[2];
    char why[1800]; /* what differs first, behind "; "; "": not known */
};

/** Whether the log has it already that results of the kernel depend on the order of lanes: then nobody has to find out why. */
bool cpu_finding_order_was_told(const struct cpu_worker *worker);
/** The result of the message depends on the order in which its lanes run. */
void cpu_finding_order(gyre_context *context, const struct cpu_difference *difference);

/**
 * The access reads bytes that nobody wrote for this message. True when they are of the scratch, and the log does not have it yet: it is told by
 * cpu_finding_unwritten_scratch.
 */
bool cpu_finding_unwritten(gyre_context *context, const struct cpu_touch *touch);
/** Tells of the worker's `unwritten`. `later`: the access by which a lane writes the bytes after all; NULL: none does. */
void cpu_finding_unwritten_scratch(struct cpu_worker *worker, const struct cpu_touch *later, uint32_t lane);
/** Whether the log has something of this place already: an instruction, or a line of a file. If not, it counts as told from now on. */
bool cpu_finding_was_told(const struct cpu_worker *worker, const void *place, uint32_t line);
/** The lanes of a message are about to run, once or with another seed: forgets what they did before. No-op without checks. */
void cpu_finding_begin(struct cpu_worker *worker);
/** The number of a lane in findings. */
uint32_t cpu_finding_lane(const gyre_context *context);

#endif
