/* SPDX-License-Identifier: Apache-2.0 */
/* Decides where slots, headers and express lines (copies of lone requests) lie in a ring's region, and how much memory a
 * queue takes. bytes.h adds the rings of bytes of bridged queues. Pure functions. */
#ifndef GYRE_CORE_RING_LAYOUT_H
#define GYRE_CORE_RING_LAYOUT_H

#include "core/ring/ring_options.h"
#include "core/ring/slot.h"
#include "gyre/ring_layout.h"

/**
 * Lays out the region for these options: the places of slots, and the region's shape with its size in whole lines.
 * gyre_bytes_plan appends to it.
 */
void gyre_queue_lay_out(const struct gyre_queue_options *options, gyre_queue_shape *shape,
                        gyre_queue_slots *slots);

/** Whether the region ends with the times that a client tells (told_times.h); they lie where gyre_layout_told_times says then. */
bool gyre_layout_tells_times(const struct gyre_queue_options *options);
/** `shape`: as gyre_queue_lay_out made it, before gyre_bytes_plan appends to it. */
uint64_t gyre_layout_told_times(const gyre_queue_shape *shape);

/** The memory that gyre_queue_create would take for these options. */
void gyre_queue_measure(const struct gyre_queue_options *options, struct gyre_queue_cost *cost);

#endif
