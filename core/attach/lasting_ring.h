/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of a lasting client (lasting.h): carries them between the ring that the program has and the server. */
#ifndef GYRE_CORE_ATTACH_LASTING_RING_H
#define GYRE_CORE_ATTACH_LASTING_RING_H

#include "core/attach/lasting.h"

/**
 * Allocates the room for messages that are carried together. EXHAUSTED. The caller calls gyre_lasting_free_room in
 * any case.
 */
gyre_status gyre_lasting_make_room(struct gyre_lasting *lasting);

void gyre_lasting_free_room(struct gyre_lasting *lasting);

/** Carries requests from the ring to the server. Returns whether it carried or completed any. */
bool gyre_lasting_take(struct gyre_lasting *lasting);

/**
 * While no server is there: completes requests that need none (dropped or taken back). Returns whether there were
 * any.
 */
bool gyre_lasting_tidy(struct gyre_lasting *lasting);

/** Carries completions from the server to the ring. *over: no more will come. Returns whether any came. */
bool gyre_lasting_give(struct gyre_lasting *lasting, bool *over);

/** Tells the program which requests are durable, or covered by a checkpoint, by now. Returns whether any are new. */
bool gyre_lasting_promise(struct gyre_lasting *lasting);

/** Wakes the threads that sleep at the ring, if something new is in it (`rings`). */
void gyre_lasting_ring_bell(struct gyre_lasting *lasting);

/** Whether completions are held until their requests are durable. */
bool gyre_lasting_holds(const struct gyre_lasting *lasting);

/** Whether requests are at the server. */
bool gyre_lasting_awaits(const struct gyre_lasting *lasting);

/** Shows receivers the completion that is in the reply slot. */
void gyre_lasting_tell(struct gyre_lasting *lasting, uint64_t index);

/** Completes a request with this outcome, without a server. */
void gyre_lasting_complete(struct gyre_lasting *lasting, uint64_t index, uint32_t outcome);

/** Completes a request as failed, without a server. */
void gyre_lasting_fail(struct gyre_lasting *lasting, uint64_t index, int32_t code, const char *text);

#endif
