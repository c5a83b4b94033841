/* SPDX-License-Identifier: Apache-2.0 */
/* Another lane than the first one of a block emits.
 *
 * expects: port
 * check: memory,races,schedule
 * options: --config second_lane.ini --pipeline items
 * request: {"number":3} */
#include <gyre/kernel.h>

#define ITEM(FIELD) FIELD(u32, number)
GYRE_MESSAGE(item, ITEM)
#define NEXT(PORT) PORT(item, next, 2)
GYRE_PORTS(next_ports, NEXT)

GYRE_BLOCK_KERNEL_TO(cut, item, gyre_none, next_ports, gyre_none)
{
    if (gyre_lane(gyre) == 1)
        *gyre_emit(gyre, next) = *request; /* first */
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(take, item, item)
{
    *reply = *request;
    return GYRE_REPLY;
}
