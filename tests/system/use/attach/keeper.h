/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that keeps more than one packet brings. */
#ifndef GYRE_TESTS_KEEPER_H
#define GYRE_TESTS_KEEPER_H

#include <gyre/message.h>

#define KEEPER_WORDS 60000

#define KEEPER_REQUEST(FIELD) FIELD(u64, number)
GYRE_MESSAGE(keeper_request, KEEPER_REQUEST)

/* All words are the number of the last request. */
#define KEEPER_STATE(FIELD) FIELD(u64, words[KEEPER_WORDS]) FIELD(u64, last)
GYRE_MESSAGE(keeper_state, KEEPER_STATE)

#endif
