/* SPDX-License-Identifier: Apache-2.0 */
/* The order of processors for `pin = spread`. Private to this folder. */
#ifndef GYRE_CPU_SPREAD_H
#define GYRE_CPU_SPREAD_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/backend.h"

/**
 * Writes the processors that this process may use. Every beginning of their order is spread as widely as it can be:
 * over packages, then caches, then cores, and only then over the threads of a core. Without hwloc they come by
 * number. Returns how many there are, at most `room`.
 */
size_t cpu_spread(const gyre_host *host, uint16_t *processors, size_t room);

#ifdef GYRE_HAVE_HWLOC
struct hwloc_obj;
/** The order for the allowed processors below an object of a topology; 0 when memory is short. */
size_t cpu_spread_below(const struct hwloc_obj *object, const cpu_set_t *allowed, uint16_t *processors,
                        size_t room);
#endif

#endif
