/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check `traffic` (backend.cpu.check): counts what a GPU would do for the messages of a kernel. Lanes are grouped as a GPU
 * groups them, 32 at a time: consecutive messages of a lane kernel, neighbouring lanes of a block; a message of an actor has a
 * group of its own. For each place in the handler it counts how often a group would run it, which 32-byte sectors of memory the
 * group would move there, and how often lanes of a group meet in a bank of the scratch.
 *
 * Not thread-safe: the caller holds the lock of the device's checks.
 */
#ifndef GYRE_CPU_TRAFFIC_H
#define GYRE_CPU_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/dialect/cpu_watch.h"
#include "gyre/status.h"

struct cpu_traffic;
struct cpu_worker;

/** An access of a lane, about to happen. */
struct cpu_traffic_touch {
    const gyre_cpu_range *range;
    const void *at;
    uint64_t size;
    uint32_t how; /* GYRE_TOUCH_... */
    const void *code;
};

/** NULL without memory. `path`: the file that cpu_traffic_write writes; borrowed. */
struct cpu_traffic *cpu_traffic_create(const char *path);
void cpu_traffic_free(struct cpu_traffic *traffic);

/** A kernel file was loaded: places that are counted from now on lie in it. */
void cpu_traffic_module(struct cpu_traffic *traffic, const char *path);

/** A message begins, and has ended. */
void cpu_traffic_begin(struct cpu_traffic *traffic, const struct cpu_worker *worker);
void cpu_traffic_end(struct cpu_traffic *traffic);

/** A lane is about to touch memory; a lane goes on at the place `code`, the begin of code without branches. */
void cpu_traffic_touch(struct cpu_traffic *traffic, uint32_t lane, const struct cpu_traffic_touch *touch);
void cpu_traffic_step(struct cpu_traffic *traffic, uint32_t lane, const void *code);

/**
 * Writes what was counted as lines of text; cli/estimate reads them. False, with errno, when the file cannot be written.
 *
 *     gyre-traffic 1
 *     module PATH
 *     kernel NAME form F lanes L messages N groups G cut C
 *     step OFFSET executed N issued N
 *     touch OFFSET sort S how H size BYTES span BYTES executed N issued N sectors N needed N conflicts N fresh N
 *
 * `sectors` are those that groups touch, `fresh` those of them that a group did not touch the time before at that place, `needed`
 * as many as the touched bytes would fill. OFFSET is the place in the module, a return address. `executed` counts lanes, `issued` groups. `cut`: accesses for whose
 * groups there was no memory; each counts as a group of one lane.
 */
bool cpu_traffic_write(struct cpu_traffic *traffic);

#endif
