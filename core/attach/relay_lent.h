/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of a relay (relay.h) that a thread of the device takes, which shares its processor with the relay's thread. */
#ifndef GYRE_CORE_ATTACH_RELAY_LENT_H
#define GYRE_CORE_ATTACH_RELAY_LENT_H

#include "core/attach/relay.h"

/**
 * Lends the turns to a thread of the device, and sleeps until they are taken back. False, at once: clients send streams, or
 * the queue has a journal, or no thread of the device looks for messages. By the relay's thread, without the relay's lock.
 */
bool gyre_relay_lend(struct gyre_relay *relay);

#endif
