/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settles messages of flows that a thread of the core handled: what a backend does behind a handler, for messages that kernels of
 * another device handled (station.h). Takes no lock. Flows lie in memory of this process.
 */
#ifndef GYRE_CORE_LINKS_SETTLE_H
#define GYRE_CORE_LINKS_SETTLE_H

#include "core/links/pipeline.h"

/** What became of a message. */
struct gyre_settled {
    bool failed, replied;
    bool twice; /* two handlers replied: the reply of neither counts, and a failure elsewhere counts first */
    gyre_failure failure;
    const void *reply;
    uint32_t length; /* of the reply */
    uint32_t sent;   /* messages that it causes */
};

/**
 * Counts what the message causes, before that is published. Returns the origin of those messages. A message of a pipeline with a
 * window, a quota or asks cannot be settled here.
 */
uint64_t gyre_settle_begin(const gyre_pipeline *pipeline, uint64_t origin, const struct gyre_settled *did);
/** The messages are published. Completes the request when none is left of its flow. */
void gyre_settle_end(const gyre_pipeline *pipeline, uint64_t origin, const struct gyre_settled *did);

#endif
