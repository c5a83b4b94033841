/* SPDX-License-Identifier: Apache-2.0 */
/* A request becomes four parts, which two blocks add up in memory of the flow: at the same time.
 *
 * expects: race of turns
 * check: order,races,deadlock
 * options: --config flow_sum.ini --pipeline sum
 * request: {"value":3}
 * request: {"value":4} */
#include <gyre/kernel.h>

#define PART(FIELD) FIELD(u32, value)
GYRE_MESSAGE(part, PART)
#define PARTS(PORT) PORT(part, parts, 4)
GYRE_PORTS(parts_ports, PARTS)

GYRE_KERNEL_TO(cut, part, gyre_none, parts_ports)
{
    for (u32 i = 0; i < 4; i++) {
        GYRE_GLOBAL part *out = gyre_emit(gyre, parts);
        out->value = request->value + i;
    }
    return GYRE_NO_REPLY;
}

struct sums {
    u32 sum, seen;
};
GYRE_FLOW(add, struct sums)

GYRE_KERNEL(add, part, part)
{
    GYRE_GLOBAL struct sums *flow = gyre_flow(gyre, add);
    flow->sum += request->value; /* first */
    if (gyre_atomic_add(&flow->seen, 1u) < 3)
        return GYRE_NO_REPLY;
    reply->value = gyre_atomic_load(&flow->sum); /* second */
    return GYRE_REPLY;
}
