/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two measurements of the demo. Request number i holds vectors computed from i alone, so every reply can
 * be checked bit for bit without remembering the request.
 */
#ifndef DEMO_H
#define DEMO_H

#include <gyre/gyre.h>
#include <stdint.h>

/** Called now and then with how many of how many replies were checked. */
typedef void demo_progress(uint64_t checked, uint64_t total);

typedef struct demo_stream_result {
    uint64_t checked, wrong;
    uint64_t elapsed_ns;
} demo_stream_result;

/** Sends `count` additions in batches, keeping the queue filled, and checks every reply. */
gyre_status demo_stream(gyre_queue *queue, uint64_t count, demo_progress *progress,
                        demo_stream_result *result);

typedef struct demo_call_result {
    uint64_t wrong;
    uint64_t p50_ns, p99_ns;
} demo_call_result;

/** Makes `count` additions one after the other, each waiting for its reply. */
gyre_status demo_calls(gyre_queue *queue, uint64_t count, demo_call_result *result);

#endif
