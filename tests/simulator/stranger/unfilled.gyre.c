/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel passes an item on and forgets its weight, so the next one reads what an earlier message left there.
 *
 * expects: unwritten
 * check: memory,races,schedule
 * options: --config unfilled.ini --pipeline items
 * request: {"item_number":3,"weight":6} */
#include <gyre/kernel.h>

#define ITEM(FIELD) FIELD(u32, item_number) FIELD(u32, weight)
GYRE_MESSAGE(item, ITEM)
#define NEXT(PORT) PORT(item, next, 1)
GYRE_PORTS(next_ports, NEXT)

GYRE_KERNEL_TO(pass, item, gyre_none, next_ports)
{
    GYRE_GLOBAL item *out = gyre_emit(gyre, next);
    out->item_number = request->item_number; /* second */
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(weigh, item, item)
{
    reply->item_number = request->item_number;
    reply->weight = request->weight * 2; /* first */
    return GYRE_REPLY;
}
