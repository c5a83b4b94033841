/* SPDX-License-Identifier: Apache-2.0 */
/* The rings of a relay's clients (relay.h). The functions run under relay->lock, and in the relay's thread unless a comment
 * names another thread. */
#ifndef GYRE_CORE_ATTACH_RELAY_RING_H
#define GYRE_CORE_ATTACH_RELAY_RING_H

#include "core/attach/relay.h"

/**
 * Allocates the room for requests that are being copied. EXHAUSTED. The caller calls gyre_relay_free_room in any
 * case.
 */
gyre_status gyre_relay_make_room(struct gyre_relay *relay);

void gyre_relay_free_room(struct gyre_relay *relay);

/**
 * Makes the ring for a client with that number (0: a client without a name) and puts it into the relay's list. The
 * ring takes over the requests that an earlier client of this name left, and *options tells how many they are. Called
 * by a session's thread. `answered`: see gyre_attach_request. INCOMPATIBLE when the queue's journal does not know the
 * client's answered requests.
 */
gyre_status gyre_relay_ring_create(struct gyre_relay *relay, struct gyre_queue_options *options,
                                   uint64_t client, uint64_t answered, struct gyre_relay_ring **out);

/**
 * Notes that the ring's client left, so that the next client of its name goes on with its numbers. Called by a
 * session.
 */
void gyre_relay_ring_note_leave(struct gyre_relay *relay, const struct gyre_relay_ring *ring);

/** Whether the client's next request is there. */
bool gyre_relay_has_next(const struct gyre_relay_ring *ring);

/**
 * Copies the client's requests, about `most` of them, into the kernel's queue, as far as there is room. Returns how many it
 * is done with.
 */
uint64_t gyre_relay_take(struct gyre_relay *relay, struct gyre_relay_ring *ring, uint64_t most);

/**
 * Copies completions of the kernel's requests from `index` on, below `end`, into their client's ring, as long as they are there and
 * owed to one client. They are published from the last one on, so that a client that waits for the first one takes none of
 * the lines away that are still being written. Returns how many; 0: the completion of `index` is owed to nobody, or not there.
 */
uint64_t gyre_relay_give(const struct gyre_relay *relay, uint64_t index, uint64_t end);

/** Tells all clients what is promised to them, and wakes those in whose ring is something new. Returns whether a promise is new. */
bool gyre_relay_tell(struct gyre_relay *relay);

#endif
