/* SPDX-License-Identifier: Apache-2.0 */
/* VectorAdd, of structs. Its queue carries the bytes of .NET, which the kernel decodes and encodes. */
#define GYRE_WIRED 1
#include <gyre/kernel.h>
#include "add.h"
#include "add_wire.h"

GYRE_KERNEL(add, add_request, add_reply)
{
    reply->id = request->id;
    reply->priority = request->priority;
    reply->correlation = gyre_copy(gyre, id128, reply, request, request->correlation);
    reply->result = request->a + request->b;
    return GYRE_REPLY;
}
