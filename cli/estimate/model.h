/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what was counted to a rate, a latency and what bounds them. Arithmetic only: the same counts give the same figures. No
 * state.
 */
#ifndef GYRE_CLI_ESTIMATE_MODEL_H
#define GYRE_CLI_ESTIMATE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/estimate/code_lines.h"
#include "cli/estimate/machine.h"
#include "cli/estimate/traffic_file.h"

/** What a message's time is spent on. */
typedef enum model_part {
    MODEL_RING,         /* the ring's words, the host's threads and the bus */
    MODEL_INSTRUCTIONS, /* arithmetic */
    MODEL_DIVERGENCE,   /* instructions for lanes that go another way, or have ended */
    MODEL_SERIAL,       /* instructions while most lanes of the group have nothing to do */
    MODEL_MEMORY,       /* state and buffers */
    MODEL_LOCAL,        /* arrays of the handler's own that no register holds */
    MODEL_SCRATCH,      /* banks of the scratch */
    MODEL_BARRIERS,
    MODEL_ATOMICS,
    MODEL_FAILURES, /* what a failing message takes besides, of small messages */
    MODEL_CHECKS,   /* instructions that look whether the parts of a message lie in it */
    MODEL_PARTS
} model_part;

/** A handler on a GPU. */
typedef struct model_handler {
    const machine *machine;
    const traffic_file *traffic;
    const code_lines *code;
    uint64_t request_size, reply_size;
    uint32_t lanes, blocks; /* of the launch; blocks have a queue each */
    uint64_t failed;        /* of the messages that were counted */
    bool compiled;          /* the next two are known */
    uint32_t registers, spill_bytes;
} model_handler;

typedef struct model_result {
    double part_ns[MODEL_PARTS]; /* of a message, of one block's time */
    double message_ns;           /* of all blocks together: 1e9 / rate */
    double call_ns;
    double error; /* rate and latency may be this factor higher or lower */
    model_part bound;
    bool by_bus; /* several blocks are bounded by the bus that they share */
} model_result;

void model_compute(const model_handler *handler, model_result *result);

/** "ring", "instructions", ...; and what it means, for people. */
const char *model_part_word(model_part part);
const char *model_part_meaning(model_part part);

/** How many lanes a group has on average: 32 where all are full. */
double model_group_lanes(const model_handler *handler);

#endif
