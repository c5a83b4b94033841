/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which requests of a queue were in its ring before which message was handled. Requests that were seen by the same look are a
 * window; a queue keeps its last two, so that a worker may still be at the one before when another one looks again.
 */
#ifndef GYRE_CPU_WINDOW_H
#define GYRE_CPU_WINDOW_H

#include <stdint.h>

struct cpu_queue;

/** The last two windows of a queue: requests below `middle`, and from there on below `end`. All zero: none. */
struct cpu_window {
    uint64_t serial; /* the queue's */
    uint64_t first, middle, end;
    uint64_t since_first, since_then; /* the first message after the look at which they were seen */
};

/** Looks which requests are in the ring by now. `messages`: the number of the latest message of the device. */
void cpu_window_look(struct cpu_window *window, const struct cpu_queue *queue, uint64_t messages);

/**
 * Returns the first message that was handled after request `index` was seen, and how many requests from there on are in the
 * same window: messages from the returned one on may run at the same time as these requests.
 */
uint64_t cpu_window_since(const struct cpu_window *window, uint64_t index, uint64_t *count);

#endif
