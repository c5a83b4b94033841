/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers that compute with what they are sent, whose requests are read before anything else happens. */
#include <gyre/kernel.h>
#include "doubles.h"

GYRE_KERNEL(doubles_lane, doubles, doubles)
{
    reply->number = request->number * 2;
    reply->other = 1;
    return GYRE_REPLY;
}

GYRE_ACTOR(doubles_actor, doubles, doubles, doubles)
{
    state->number += request->number;
    reply->number = request->number * 2;
    reply->other = 1;
    return GYRE_REPLY;
}
