/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that adds like plain_add.gyre.c. Its queue has `wire = memorypack`, so a request has 42 bytes and a reply 38. */
#include <gyre/kernel.h>

#include "add_messages.h"
#include "add_messages_wire.h"

GYRE_KERNEL(dotnet_add, dotnet_add, dotnet_sum)
{
    reply->id = request->id;
    reply->priority = request->priority;
    reply->correlation = gyre_copy(gyre, id128, reply, request, request->correlation);
    reply->result = request->a + request->b;
    return GYRE_REPLY;
}
