/* SPDX-License-Identifier: Apache-2.0 */
/* An addition of structs: the peer of dotnet_add. */
#include <gyre/kernel.h>

#include "add_messages.h"

GYRE_KERNEL(plain_add, plain_add, plain_sum)
{
    reply->id = request->id;
    reply->priority = request->priority;
    reply->correlated = request->correlated;
    reply->correlation = request->correlation;
    reply->result = request->a + request->b;
    return GYRE_REPLY;
}
