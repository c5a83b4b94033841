/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells how much memory this process may still take, by the machine's free memory and by the limits of its control groups
 * (cgroup.h). Linux does not refuse memory beyond either: it kills a process. So whoever is about to take memory by a number
 * that a user gave asks first. No state; any thread.
 */
#ifndef GYRE_CORE_BASE_MEMORY_LEFT_H
#define GYRE_CORE_BASE_MEMORY_LEFT_H

#include "core/base/cgroup.h"
#include "gyre/status.h"

/** Up to so many bytes are taken without a look, which would cost more than it helps. */
#define GYRE_MEMORY_SMALL ((uint64_t)1 << 20)

struct gyre_memory_left {
    uint64_t bytes;                /* the smaller one of the two below; UINT64_MAX: unknown */
    uint64_t machine;              /* bytes that the machine has available; UINT64_MAX: unknown */
    struct gyre_cgroup_room group; /* bytes that the control groups leave */
};

/** Bytes that the machine has available, UINT64_MAX when /proc does not tell. */
uint64_t gyre_memory_available(void);

void gyre_memory_left_look(struct gyre_memory_left *left);

/**
 * Sets the error EXHAUSTED: "NAME needs SIZE bytes of KIND, ...". `kind` is "memory" or "shared memory"; `advice` is what to do
 * besides a larger limit, such as "use a smaller buffer".
 */
gyre_status gyre_memory_left_tell(const struct gyre_memory_left *left, const char *name, uint64_t size,
                                  const char *kind, const char *advice);

/** EXHAUSTED unless so much memory is left. */
gyre_status gyre_memory_left_check(const char *name, uint64_t size, const char *kind, const char *advice);

#endif
