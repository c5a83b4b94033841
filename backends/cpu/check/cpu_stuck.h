/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes of one message that wait for each other for ever, where a seed decides which lane goes on (the checks `schedule` and `deadlock`
 * together). They do when each lane that neither ended nor waits at a barrier has found the same words again and again by atomic operations, and
 * none has changed anything meanwhile. That counts for memory alone that nobody changes but these lanes.
 */
#ifndef GYRE_CPU_STUCK_H
#define GYRE_CPU_STUCK_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/cpu/check/cpu_finding.h"

struct cpu_worker;
struct cpu_stuck;

/** Makes what a worker needs for it; NULL without memory. */
struct cpu_stuck *cpu_stuck_create(uint32_t lanes);
void cpu_stuck_free(struct cpu_stuck *stuck);

/** A run of the lanes begins. */
void cpu_stuck_begin(struct cpu_stuck *stuck);
/** A lane met a barrier: it has done something. */
void cpu_stuck_met(struct cpu_stuck *stuck);

/**
 * Notes an access that a lane makes as soon as this returns. True when all lanes wait for ever; then the log has the line of each. The caller has
 * the lock of the device's checks.
 */
bool cpu_stuck_note(struct cpu_stuck *stuck, const gyre_context *context, const struct cpu_touch *touch);

#endif
