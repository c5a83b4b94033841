/* SPDX-License-Identifier: Apache-2.0 */
/* The first lane of a block asks to be called again, and the others do not.
 *
 * expects: more
 * check: memory,races,schedule
 * options: --config more_apart.ini --pipeline items
 * request: {"number":3} */
#include <gyre/kernel.h>

#define ITEM(FIELD) FIELD(u32, number)
GYRE_MESSAGE(item, ITEM)
#define NEXT(PORT) PORT(item, next, 1)
GYRE_PORTS(next_ports, NEXT)

GYRE_BLOCK_KERNEL_TO(cut, item, gyre_none, next_ports, gyre_none)
{
    if (gyre_lane(gyre) != 0)
        return GYRE_NO_REPLY;
    GYRE_GLOBAL item *out = gyre_emit(gyre, next);
    out->number = gyre_turn(gyre);
    return gyre_turn(gyre) + 1 < request->number ? GYRE_MORE : GYRE_NO_REPLY; /* first */
}

GYRE_KERNEL(take, item, item)
{
    *reply = *request;
    return request->number == 1 ? GYRE_REPLY : GYRE_NO_REPLY;
}
