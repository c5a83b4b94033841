/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries the times of a lent queue's messages from the client, which measures them, to the server, which shows them. The server
 * believes nothing: a client that makes times up spoils the figures of its own queue, and nothing else.
 */
#ifndef GYRE_CORE_STAGES_TOLD_H
#define GYRE_CORE_STAGES_TOLD_H

#include "core/ring/told_times.h"

/** No more messages than this are believed of one bucket, so that no sum of buckets overflows. */
#define GYRE_TOLD_MOST (UINT64_C(1) << 48)

/** The client: stores what `times` has now in that bucket, and its sum. One thread at a time. */
void gyre_told_store(struct gyre_told_times *told, const gyre_observe_histogram *times, uint32_t bucket);

/**
 * The server: raises each bucket of `times` to what the client says, reading each of its words once. Counts never fall, a bucket
 * holds GYRE_TOLD_MOST at most, and a sum is one that messages in such buckets can have. `record` and `time` stay.
 */
void gyre_told_take(const struct gyre_told_times *told, gyre_observe_histogram times[GYRE_OBSERVE_TIMES]);

#endif
