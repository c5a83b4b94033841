/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker of a kernel with ports, or of a stage of a pipeline: fetches messages from links, gives the handler places to
 * emit to, publishes what was emitted, and counts flows (link_layout.h has the protocol). cpu_worker.c is the loop.
 *
 * Takes no lock: who runs the worker holds its seat (cpu_seat.h). A worker writes its own rings and windows, the counts of
 * fetched messages, the flows of the messages that it handles, and the completions of flows that end with it.
 */
#ifndef GYRE_CPU_LINKS_H
#define GYRE_CPU_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/dialect/cpu_module.h"

struct cpu_queue;
struct cpu_worker;

/** Whether a link has a message for this worker; whether there is room for what it causes is another question. */
bool cpu_links_have_messages(const struct cpu_worker *worker);

/**
 * Whether a ring that is emptied also while there is no room (cpu_stash.h) has messages that this worker has not looked at.
 */
bool cpu_links_have_full_rings(const struct cpu_worker *worker);

/** The next messages take long, as the last one did: they are not handled by a thread that follows its messages. */
void cpu_links_are_slow(struct cpu_worker *worker);

/** Whether others follow their messages to this worker when it sleeps, and there are too few processors for it to stay awake. */
bool cpu_links_are_followed(const struct cpu_worker *worker);

/** Serves each link once. Returns how many messages were handled. */
uint64_t cpu_links_serve(struct cpu_worker *worker, uint64_t command);
/** Handles requests of an entry queue, as a runner does. */
uint64_t cpu_links_run(struct cpu_worker *worker, const struct cpu_queue *queue, gyre_cpu_run *run);
/** Handles requests of a queue that is no entry of a pipeline, for a kernel with ports: to emit is a failure. */
uint64_t cpu_links_run_alone(struct cpu_worker *worker, gyre_cpu_run *run);

#endif
