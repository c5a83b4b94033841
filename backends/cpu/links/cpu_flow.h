/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message of a flow, for which there is room: gives it to the handler, publishes what that emitted, and completes the request
 * of the flow with its last message (link_layout.h has the protocol).
 *
 * Takes no lock. A worker writes the flows of the messages that it handles, and the completions of flows that end with it.
 */
#ifndef GYRE_CPU_FLOW_H
#define GYRE_CPU_FLOW_H

#include <stdbool.h>

#include "gyre/link_layout.h"

struct cpu_worker;

/**
 * Begins the flow of a request. False when the last flow of its place is not settled: only a program that breaks the protocol
 * sends so early, and its request has no completion.
 */
bool cpu_flow_begin(const struct cpu_worker *worker, const gyre_link_entry *entry, gyre_flow *flow,
                    gyre_u64 index);
/** Completes a request that is not shown to the handler, as failed. Its flow has begun, and has no message. */
void cpu_flow_refuse(struct cpu_worker *worker, gyre_u64 origin, gyre_i32 code, const char *text);
/** Where the copy is of a header that another program can write: behind the flows. */
unsigned char *cpu_flow_header(const gyre_link_entry *entry, gyre_u32 place);
/**
 * Handles a message for which there is room. `ask`: what it asks, or answers; NULL: it does neither. Returns whether its handler
 * failed it.
 */
bool cpu_flow_handle(struct cpu_worker *worker, gyre_u64 origin, const gyre_link_ask *ask,
                     const void *request, gyre_u32 length);
/** Calls the handler again with the message that it asked to keep (cpu_links.kept), for which there is room. As cpu_flow_handle. */
bool cpu_flow_handle_again(struct cpu_worker *worker);
/**
 * Gives the next message, which is of no flow, memory as a flow has it (links.memory or links.outside): zeros, unless its
 * handler is called again. A message that the worker keeps has other memory than what comes by a queue meanwhile.
 */
void cpu_flow_alone(struct cpu_worker *worker, unsigned char *memory);
/** The next message may be one of a queue that enters no pipeline. */
void cpu_flow_forget(struct cpu_worker *worker);

#endif
