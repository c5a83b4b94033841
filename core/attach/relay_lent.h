/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of a relay (relay.h), which its own thread takes, or a thread of the device that shares its processor with it. */
#ifndef GYRE_CORE_ATTACH_RELAY_LENT_H
#define GYRE_CORE_ATTACH_RELAY_LENT_H

#include "core/attach/relay.h"

/** Takes one turn over all rings: completions go back, requests go in. Returns whether there was anything to do. Under the lock. */
bool gyre_relay_turn(struct gyre_relay *relay);

/**
 * Lends the turns to a thread of the device, and sleeps until they are taken back. False, at once: clients send streams, and
 * there are processors for all threads, or the handler is slow, or the queue has a journal, or no thread of the device looks
 * for messages. By the relay's thread, without the relay's lock.
 */
bool gyre_relay_lend(struct gyre_relay *relay);

#endif
