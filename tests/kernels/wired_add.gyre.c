/* SPDX-License-Identifier: Apache-2.0 */
/* VectorAdd as any handler writes it, of structs. Its messages travel as the bytes that DotCompute sends and
 * expects: a queue with `wire = memorypack` does the same for a file that says nothing of it. */
#ifndef GYRE_WIRED
#define GYRE_WIRED 1
#endif
#include <gyre/kernel.h>
#include "wire_add.h"
#include "wire_add_wire.h"

GYRE_KERNEL(wired_add, add_request, add_reply)
{
    reply->id = request->id;
    reply->priority = request->priority;
    reply->correlation = gyre_copy(gyre, id128, reply, request, request->correlation);
    reply->result = request->a + request->b;
    return GYRE_REPLY;
}
