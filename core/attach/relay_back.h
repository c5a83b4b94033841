/* SPDX-License-Identifier: Apache-2.0 */
/* Carries completions of a kept queue back to the clients of a relay (relay.h). */
#ifndef GYRE_CORE_ATTACH_RELAY_BACK_H
#define GYRE_CORE_ATTACH_RELAY_BACK_H

#include "core/attach/relay.h"

/**
 * Copies completions from the kernel's queue into the clients' rings: up to the first request without a completion,
 * or, with `whole`, all that are there. Then gives back those slots of the queue whose completions nobody waits for.
 * Returns whether it did anything. Called under relay->lock by the relay's thread. relay_back.c
 */
bool gyre_relay_carry_back(struct gyre_relay *relay, bool whole);

#endif
