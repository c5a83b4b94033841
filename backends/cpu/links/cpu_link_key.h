/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links whose messages several blocks share by key: each block looks at every message of a ring, in its order, and handles
 * those whose keys it owns. So blocks claim nothing, and messages of a key are handled in the order of their ring. Takes no lock:
 * a block writes its own window alone.
 */
#ifndef GYRE_CPU_LINK_KEY_H
#define GYRE_CPU_LINK_KEY_H

#include <stdbool.h>

#include "gyre/link_layout.h"

struct cpu_worker;

static inline bool cpu_link_has_keys(const gyre_link_ring *ring)
{
    return ring->share != GYRE_LINK_SHARE_ANY;
}

/** Whether the block can go on: to a message of its own, or past one of another block. */
bool cpu_link_key_can_go_on(const gyre_link_ring *ring, const gyre_link_window *window);

/** Moves the window to the block's next own message. False when none has come that was not looked at. */
bool cpu_link_key_find(const struct cpu_worker *worker, const gyre_link_ring *ring, gyre_link_window *window);

#endif
