/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Express lines (gyre_express_line in ring_layout.h), for devices that know them: what a lone caller sends is there
 * after one journey across the bus, and so is its reply.
 *
 * A reply that came by express is not in its slot before somebody puts it there: the caller, who awaits it, or, when
 * that one gave up or no device is left, whoever comes by. No receiver does, since only calls are answered so.
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

/** No device is to take anything from the request's lines. */
void gyre_express_withdraw(const struct gyre_ring *ring);

/** Of a ring with express replies: whether the lines hold the reply to `index`. */
bool gyre_express_answers(const struct gyre_ring *ring, uint64_t index);

/**
 * The reply of `index`, which gyre_express_answers, into the caller's memory, if its `size` bytes hold it, and its
 * length; its slot says then that it was completed. By its caller. False: nothing was done.
 */
bool gyre_express_take(const struct gyre_ring *ring, uint64_t index, void *reply, size_t size,
                       uint32_t *length);

/**
 * A reply that lies in the lines alone is put into its slot, whole. For who holds the consumer's lock, of a call that
 * was given up, or when no device is left; a caller that takes it at the same time leaves the same there.
 */
void gyre_express_settle(const struct gyre_ring *ring);

#endif
