/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/kernel.h>

#include "tellers.h"

GYRE_KEYED_ACTOR(tellers, payment, teller, teller, account)
{
    state->count++;
    state->trace = state->trace * 31 + request->amount;
    *reply = *state;
    return GYRE_REPLY;
}
