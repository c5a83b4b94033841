/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Express lines (gyre_express_line in ring_layout.h), for devices that know them: a lone caller's request reaches the
 * device after one journey across the bus, and its reply comes back the same way.
 *
 * A reply that came by express is not in its slot until a thread puts it there: the caller that awaits it, or, when that
 * caller gave up or no device is left, the next holder of the consumer's lock. Receivers never see such replies, because
 * only calls are answered so.
 */
#ifndef GYRE_CORE_RING_EXPRESS_H
#define GYRE_CORE_RING_EXPRESS_H

#include "core/ring/options.h"

struct gyre_ring;

/**
 * Whether requests of a queue with these options may go by express: they lie in their slots, are taken up in the
 * order of the sends, and nothing is noted of them or done to them besides.
 */
bool gyre_express_suits(const struct gyre_queue_options *options);

/**
 * Under the producer's lock: publishes request `index`, of at most `size` bytes, whose payload is in its slot; by
 * express, unless another one is under way. `awaited`: by a call.
 */
void gyre_express_publish(const struct gyre_ring *ring, uint64_t index, size_t size, bool awaited);

/** Clears the request's lines, so that no device takes anything from them. */
void gyre_express_withdraw(const struct gyre_ring *ring);

/** Whether the lines hold the reply to `index`. Only for a ring with express replies. */
bool gyre_express_answers(const struct gyre_ring *ring, uint64_t index);

/**
 * Copies the reply of `index`, for which gyre_express_answers is true, and its length to its caller, if it fits `size`
 * bytes; the reply slot then says that the request was completed. False: it does not fit, and nothing was done.
 */
bool gyre_express_take(const struct gyre_ring *ring, uint64_t index, void *reply, size_t size,
                       uint32_t *length);

/**
 * Puts a reply that lies in the lines alone into its slot, whole. Called by a holder of the consumer's lock, after a
 * call was given up or once no device is left. A caller that takes the reply at the same time leaves the same bytes in
 * the slot.
 */
void gyre_express_settle(const struct gyre_ring *ring);

#endif
