/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether a reply is there, wherever the device may have written it. */
#ifndef GYRE_CORE_RING_READY_H
#define GYRE_CORE_RING_READY_H

#include "core/ring/express.h"
#include "core/ring/ring.h"

/**
 * True once the completion of request `index` can be read from its reply slot. Exception: the reply to a pending
 * gyre_call may still be only in the express lines (express.h).
 */
static inline bool gyre_reply_ready(const struct gyre_ring *ring, uint64_t index)
{
    return gyre_reply_in_slot(ring, index) ||
           (__builtin_expect(ring->express_replies != NULL, 0) && gyre_express_answers(ring, index));
}

#endif
