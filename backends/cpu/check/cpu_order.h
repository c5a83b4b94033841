/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why two runs of a message's lanes end differently: the first word that a lane reads and finds another value in, and who wrote it before in each
 * run. Only the first accesses of a run are kept.
 */
#ifndef GYRE_CPU_ORDER_H
#define GYRE_CPU_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "backends/cpu/check/cpu_finding.h"

struct cpu_worker;
struct cpu_order_run;

/** Makes the record of a run, which is empty; NULL without memory. */
struct cpu_order_run *cpu_order_create(void);
void cpu_order_free(struct cpu_order_run *run);

/** Notes an access of a lane that it makes next. `number`: what stands for the address of its first byte. */
void cpu_order_note(struct cpu_order_run *run, const struct cpu_touch *touch, uint64_t number, uint32_t lane);

/**
 * Writes what differs first in the two runs, which had these seeds, behind "; ". Writes "" where nothing that was kept differs. The caller has
 * the lock of the device's checks.
 */
void cpu_order_explain(const struct cpu_worker *worker, const struct cpu_order_run *const runs[2],
                       const uint64_t seeds[2], char *text, size_t size);

#endif
