/* SPDX-License-Identifier: Apache-2.0 */
/* Keyed actors whose names are words that Gyre itself uses of tables of keys. */
#include <gyre/kernel.h>

#include "keyed.h"

GYRE_KEYED_ACTOR(table, mark, marks, marks, key)
{
    state->count++;
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_KEYED_ACTOR(hash, mark, marks, marks, key)
{
    state->count++;
    *reply = *state;
    return GYRE_REPLY;
}
