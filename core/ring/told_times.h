/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the messages of a lent queue took, as the client in the other program measured it. Lies at the end of the queue's
 * region. The client alone writes it, the server alone reads it (core/stages/told.h), and no device does either.
 */
#ifndef GYRE_CORE_RING_TOLD_TIMES_H
#define GYRE_CORE_RING_TOLD_TIMES_H

#include "gyre/observe.h"

struct gyre_told_times {
    uint64_t sums_ns[GYRE_OBSERVE_TIMES];
    uint64_t buckets[GYRE_OBSERVE_TIMES][GYRE_OBSERVE_BUCKETS];
};

#endif
