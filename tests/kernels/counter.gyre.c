/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest actor: messages in order, state that starts with given bytes. */
#include <gyre/kernel.h>

#include "counter.h"

GYRE_ACTOR(counter, counter_request, counter_reply, counter_state)
{
    state->value += request->add;
    state->messages++;
    reply->value = state->value;
    reply->messages = state->messages;
    return GYRE_REPLY;
}
