/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/kernel.h>
#include "keeper.h"

GYRE_ACTOR(keeper, keeper_request, keeper_request, keeper_state)
{
    for (u32 i = 0; i < KEEPER_WORDS; i++)
        state->words[i] = request->number;
    state->last = request->number;
    reply->number = request->number;
    return GYRE_REPLY;
}

GYRE_KERNEL(forgetful, keeper_request, keeper_request)
{
    reply->number = request->number;
    return GYRE_REPLY;
}
