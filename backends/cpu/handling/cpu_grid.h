/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of a grid kernel. Block 0 is the kernel's one worker (cpu_worker.c): it alone takes messages, obeys commands and
 * answers. The other blocks are threads of the pool that wait until block 0 has a message, handle it with block 0, and wait
 * again. So a command is obeyed between two messages of the whole grid, and a paused kernel has no block at work.
 */
#ifndef GYRE_CPU_GRID_H
#define GYRE_CPU_GRID_H

#include <stdbool.h>

#include "backends/cpu/lanes/cpu_lane.h"

struct cpu_grid;
struct cpu_worker;
struct gyre_resident;

/** Makes the grid of a resident with several blocks, whose workers are filled in. False without memory. */
bool cpu_grid_create(struct gyre_resident *resident);

/** Frees the grid. All its blocks have left. Accepts NULL. */
void cpu_grid_destroy(struct cpu_grid *grid);

/** Fills in the task of a block other than 0, which waits for messages until cpu_grid_close. */
void cpu_grid_init(struct cpu_worker *worker);

/** Lets the blocks other than 0 leave. Called by block 0 as it leaves, or for a launch that failed. Accepts NULL. */
void cpu_grid_close(struct cpu_grid *grid);

/**
 * As cpu_lanes_run, on the lanes of all blocks. Called by block 0. When lanes failed, `context` has the failure of the lowest
 * block that failed by itself, else of the lowest that waited in vain at a barrier.
 */
int cpu_grid_run(struct cpu_worker *worker, const struct cpu_lanes_message *message, gyre_context *context);

/** The service gyre_cpu_services.grid_barrier of grid kernels. All lanes of the block have met. */
void cpu_grid_barrier(gyre_context *context, const char *place);

/** The service in all other kernels: fails the message. */
void cpu_grid_refuse_barrier(gyre_context *context, const char *place);

#endif
