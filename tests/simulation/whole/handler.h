/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of the whole simulation: an actor that counts and hashes what it is sent. */
#ifndef GYRE_TESTS_WHOLE_HANDLER_H
#define GYRE_TESTS_WHOLE_HANDLER_H

#include <stdbool.h>

#include "gyre/message.h"

#define WHOLE_REQUEST(FIELD) FIELD(u64, number)
GYRE_MESSAGE(whole_request, WHOLE_REQUEST)

/** What it keeps, and replies. */
#define WHOLE_STATE(FIELD) FIELD(u64, count) FIELD(u64, hash)
GYRE_MESSAGE(whole_state, WHOLE_STATE)

/** The number that request `index` carries. */
static inline uint64_t whole_number(uint64_t index)
{
    const uint64_t number = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return number ^ number >> 29;
}

/** A request whose handler takes its worker down, each time. */
static inline bool whole_is_poison(uint64_t number)
{
    return number % 41 == 5;
}

/* The handler in two parts, between which a worker may die. */

static inline void whole_handle_begin(whole_state *state)
{
    state->count++;
}

static inline void whole_handle_end(whole_state *state, uint64_t number)
{
    state->hash = (state->hash ^ number) * UINT64_C(0xff51afd7ed558ccd);
    state->hash ^= state->hash >> 33;
}

#endif
