/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends a lone request by express lines, and takes its reply from them. Express lines (gyre_express_line in ring_layout.h)
 * hold a copy of the request beside its slot, so that a device that knows them gets the whole request in one journey
 * across the bus. The reply to a call comes back the same way.
 *
 * A reply that came by express is not in its slot until a thread puts it there: the caller that awaits it, or, when that
 * caller gave up or no device is left, the next holder of the consumer's lock. Receivers never see such replies, because
 * only calls are answered so.
 */
#ifndef GYRE_CORE_RING_EXPRESS_H
#define GYRE_CORE_RING_EXPRESS_H

#include "core/ring/ring_options.h"

struct gyre_ring;

/**
 * Whether requests of a queue with these options may go by express: requests lie in their slots, the device takes them in
 * the order of the sends, and they have no headers, checksums, levels or ids.
 */
bool gyre_express_suits(const struct gyre_queue_options *options);

/**
 * Under the producer's lock: publishes request `index`, of at most `size` bytes. The caller has put the payload into its
 * slot. The request is also copied into the express lines when every earlier request was received. `awaited`: a call waits
 * for the reply, so the device may answer by express.
 */
void gyre_express_publish(const struct gyre_ring *ring, uint64_t index, size_t size, bool awaited);

/** Clears the express lines of requests, so that no device takes a request from them. */
void gyre_express_withdraw(const struct gyre_ring *ring);

/** Whether the express lines hold the reply to request `index`. Only for a ring with express replies. */
bool gyre_express_answers(const struct gyre_ring *ring, uint64_t index);

/**
 * Copies the reply to request `index` out of the express lines, if it fits `size` bytes, and marks the reply slot as
 * completed. gyre_express_answers is true for `index`. *length: the reply's. False: the reply does not fit, and the slot is
 * unchanged.
 */
bool gyre_express_take(const struct gyre_ring *ring, uint64_t index, void *reply, size_t size,
                       uint32_t *length);

/**
 * Copies a reply that is only in the express lines into its slot. Called under the consumer's lock, after a caller gave up
 * or once no device is left. A caller that takes the reply at the same time stores the same values in the slot.
 */
void gyre_express_settle(const struct gyre_ring *ring);

#endif
