/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of a subscriber whose senders fill memory that only their device reaches (GYRE_LINKING_COPIES): they lie there, with the
 * gate. What comes is copied into the subscriber's rings in this process, where it is received as from any, and its places are given
 * back once it was received, by a copy as well. Nobody rings a bell: who waits looks again and again.
 *
 * Who makes a subscriber, and who takes it off the pipeline's list, has it alone or holds subscriber->lock; all others hold that.
 */
#ifndef GYRE_CORE_LINKS_SUBSCRIBER_COPIES_H
#define GYRE_CORE_LINKS_SUBSCRIBER_COPIES_H

#include <stdint.h>

#include "gyre/status.h"

struct gyre_dispatch;
struct gyre_subscriber;

/** Makes the rings, as many and as large as the subscriber's. EXHAUSTED. A subscriber that is freed frees what was made. */
gyre_status gyre_subscriber_copies_make(struct gyre_subscriber *subscriber, struct gyre_dispatch *device);
/** Frees the device's memory. No block knows it, and nothing is copied any more. */
void gyre_subscriber_copies_part(struct gyre_subscriber *subscriber);
/** Frees everything. Only while the device is open, or when its memory was freed. */
void gyre_subscriber_copies_free(struct gyre_subscriber *subscriber);

/** Copies what has come. Does nothing for subscribers without such rings. LOST, or whatever a transfer says. */
gyre_status gyre_subscriber_copies_look(struct gyre_subscriber *subscriber);
/** Tells the senders that places of ring `number` are free again. */
gyre_status gyre_subscriber_copies_give_back(const struct gyre_subscriber *subscriber, uint32_t number);

/** The addresses that senders are told. */
uint64_t gyre_subscriber_copies_ring(const struct gyre_subscriber *subscriber, uint32_t number);
uint64_t gyre_subscriber_copies_gate(const struct gyre_subscriber *subscriber);

#endif
