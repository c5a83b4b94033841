/* SPDX-License-Identifier: Apache-2.0 */
/* The order of processors for the setting `pin = spread`. Private to this folder. */
#ifndef GYRE_CPU_SPREAD_H
#define GYRE_CPU_SPREAD_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/backend.h"

/**
 * Writes the processors that this process may use, in an order whose every beginning is spread as widely as
 * possible: over packages, then caches, then cores, and only then over the threads of a core. Without hwloc
 * the order is by number. Returns how many processors there are, at most `room`.
 */
size_t cpu_spread(const gyre_host *host, uint16_t *processors, size_t room);

#ifdef GYRE_HAVE_HWLOC
struct hwloc_obj;
/**
 * Writes the order of the allowed processors below an object of a topology; returns 0 when memory is short.
 */
size_t cpu_spread_below(const struct hwloc_obj *object, const cpu_set_t *allowed, uint16_t *processors,
                        size_t room);
#endif

#endif
