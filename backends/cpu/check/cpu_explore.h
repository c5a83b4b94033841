/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check `schedule`: runs the lanes of a message in orders that follow from seeds, and compares the results. What a run
 * writes to state and buffers is taken back before the next one, so a message has its effect once, that of the first seed.
 */
#ifndef GYRE_CPU_EXPLORE_H
#define GYRE_CPU_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/cpu/lanes/cpu_lane.h"

struct cpu_touch;
struct cpu_worker;
struct cpu_explored;

/** Makes what a worker needs for it; NULL without memory. */
struct cpu_explored *cpu_explored_create(const struct cpu_worker *worker);
void cpu_explored_free(struct cpu_explored *explored);

/** As cpu_lanes_run, once for each seed. */
int cpu_explore(struct cpu_worker *worker, const struct cpu_lanes_message *message, gyre_context *context);

/** Whether accesses of this run are kept. */
bool cpu_explore_notes(const struct cpu_explored *explored);
/** Where they are: a lane is about to touch memory. `number`: what stands for the address. */
void cpu_explore_access(struct cpu_explored *explored, const struct cpu_touch *touch, uint64_t number,
                        uint32_t lane);

/** Remembers bytes of state or of a buffer that are about to be written. */
void cpu_explore_note(struct cpu_explored *explored, const void *at, uint64_t size);

#endif
