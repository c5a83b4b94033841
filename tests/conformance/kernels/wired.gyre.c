/* SPDX-License-Identifier: Apache-2.0 */
/* VectorAdd, of structs; which form they travel in is decided by the queue. */
#include <gyre/kernel.h>
#include "wired.h"
#include "wired_wire.h"

GYRE_KERNEL(wired, wired_add, wired_sum)
{
    reply->id = request->id;
    reply->priority = request->priority;
    reply->correlation = gyre_copy(gyre, id128, reply, request, request->correlation);
    reply->result = request->a + request->b;
    return GYRE_REPLY;
}
