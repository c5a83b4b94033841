/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one message of a block kernel on 1 to 1024 lanes, all in the calling thread.
 *
 * Each lane has its own stack, `gyre` context and result; all lanes share `scratch`. Lanes take turns: a lane
 * runs until it reaches a barrier or returns, then the next lane runs. So runs are repeatable. A barrier that
 * some lanes do not reach is always found, at the end of the round: the message fails with
 * GYRE_FAILURE_BARRIER and a text such as "lane 3 ended, lane 0 waits: scan.gyre.c:41".
 *
 * Threads: one object belongs to one thread at a time. A message without barriers uses one stack, whatever
 * the number of lanes. A lane that overflows its stack hits a guard page.
 */
#ifndef GYRE_CPU_LANE_H
#define GYRE_CPU_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/dialect/cpu_module.h"

#define CPU_LANES_MAX           1024
#define CPU_LANES_STACK_DEFAULT ((size_t)64 * 1024)
#define CPU_LANES_STACK_MIN     ((size_t)16 * 1024)
#define CPU_LANES_STACK_MAX     ((size_t)1024 * 1024 * 1024)

struct cpu_lanes;

/**
 * Reserves address space for the stacks; a stack takes memory when a lane first uses it. `stack_size` is
 * rounded up to pages; 0 is the default. NULL with errno set (EINVAL: count or size out of range; ENOMEM).
 */
struct cpu_lanes *cpu_lanes_create(uint32_t lane_count, size_t stack_size);

/** Frees the lanes. Accepts NULL. A handler must not call it. */
void cpu_lanes_destroy(struct cpu_lanes *lanes);

/** One message; the pointers are the arguments of a gyre_cpu_handle. */
struct cpu_lanes_message {
    gyre_cpu_handle handle;
    const void *request;
    void *reply;
    void *state;
    void *scratch; /* not cleared between messages */
    const gyre_binding *buffers;
};

/**
 * Runs the handler on every lane and returns lane 0's result. Every lane's context is a copy of `context`
 * (block, block_count, services, owner), except `lane` and `lane_count`; its services must have
 * cpu_lanes_barrier and cpu_lanes_cells. When a lane failed, the result is GYRE_OUTCOME_FAILED, and `context`
 * holds the failure of the lowest failed lane; the failure's text is valid until the next run. Never leaves a
 * lane half run.
 */
int cpu_lanes_run(struct cpu_lanes *lanes, const struct cpu_lanes_message *message, gyre_context *context);

/**
 * Makes the lanes those of so many blocks of a grid, in order: each has its own barriers and block functions, and a scratch that begins
 * `scratch` bytes behind that of the block before. They take turns as chance says, also without a seed. `blocks` divides the lanes.
 */
void cpu_lanes_split(struct cpu_lanes *lanes, uint32_t blocks, size_t scratch);

/** The number of the present phase: it grows with each message, and at each barrier that all lanes have met. */
uint32_t cpu_lanes_phase(const struct cpu_lanes *lanes);

/**
 * The phase of the context's lane. With several blocks it is CPU_PHASES_MAX times the barriers of the grid in this message, and those of
 * the lane's block since then; CPU_NO_PHASE: too many to tell. Only for contexts that cpu_lanes_run made.
 */
enum { CPU_PHASES_MAX = 1 << 12, CPU_NO_PHASE = 1 << 24 };
uint32_t cpu_lanes_phase_of(const gyre_context *context);

/** The number of the context's lane among all lanes: with several blocks that of gyre_grid_lane. */
uint32_t cpu_lanes_number(const gyre_context *context);

/**
 * Chooses the order in which the lanes of the next messages run: 0 is lane by lane, as always; any other seed makes
 * cpu_lanes_yield switch, and barriers let go, in an order that follows from the seed alone.
 */
void cpu_lanes_schedule(struct cpu_lanes *lanes, uint64_t seed);

/**
 * Limits how often a lane of one message is left at an access; 0: there is no limit. Where a lane is left follows from the seed and the
 * limit. Beyond the limit a lane goes on until it waits or ends, or has been at it for so long that it may be waiting for another lane.
 */
void cpu_lanes_limit(struct cpu_lanes *lanes, uint64_t most);

/** Where lanes of the last message were left at accesses: how often, and the first places. */
enum { CPU_SWITCHES_KEPT = 4 };
struct cpu_switches {
    uint64_t count;
    struct cpu_switch {
        const void *code; /* of the access that the lane is left before */
        uint32_t from, to;
    } first[CPU_SWITCHES_KEPT];
};
const struct cpu_switches *cpu_lanes_switches(const struct cpu_lanes *lanes);

/** Lets other lanes run before the access at `code`, if there is a seed and it says so. Only for contexts that cpu_lanes_run made. */
void cpu_lanes_yield(gyre_context *context, const void *code);

/**
 * Leaves the message that a lane is at: its handler does not go on, nor do those of the other lanes, and the message fails. Does not return.
 * Only for contexts that cpu_lanes_run made.
 */
void cpu_lanes_abandon(gyre_context *context) __attribute__((noreturn));

/** With a seed: whether a lane neither waits at a barrier nor ended. Lanes are numbered as by cpu_lanes_number. */
bool cpu_lanes_runs(const gyre_context *context, uint32_t lane);
/** The place of the barrier where a lane waits; NULL: it waits at none. */
const char *cpu_lanes_place(const gyre_context *context, uint32_t lane);

/**
 * Has `tell` called when lanes met different barriers, or some ended while others wait: with the place of the barrier
 * where each lane waits, NULL for a lane that ended. It may write another text for the failure.
 */
typedef void (*cpu_lanes_tell)(gyre_context *context, const char *const *places, uint32_t count);
void cpu_lanes_on_divergence(struct cpu_lanes *lanes, cpu_lanes_tell tell);

/** The services `barrier` and `cells` of block kernels. Only for contexts that cpu_lanes_run made. */
void cpu_lanes_barrier(gyre_context *context, const char *place);
/** The same for the lanes of all blocks. */
void cpu_lanes_meet_all(gyre_context *context, const char *place);
gyre_u64 *cpu_lanes_cells(gyre_context *context);

/**
 * The services of lane and actor kernels, which have no barriers: a barrier fails the message and returns.
 */
void cpu_lanes_refuse_barrier(gyre_context *context, const char *place);
gyre_u64 *cpu_lanes_refuse_cells(gyre_context *context);

#endif
