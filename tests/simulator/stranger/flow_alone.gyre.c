/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a flow outside of a pipeline: each message has zeros, and finds what it wrote itself.
 *
 * expects: nothing
 * check: order,races
 * options: --blocks 2
 * request: {"n":1,"value":0}
 * request: {"n":2,"value":0}
 * request: {"n":3,"value":0}
 * request: {"n":4,"value":0} */
#include <gyre/kernel.h>

#define CALL(FIELD) FIELD(u32, n) FIELD(u32, value)
GYRE_MESSAGE(call, CALL)

struct sums {
    u32 sum, seen;
};
GYRE_FLOW(alone, struct sums)

GYRE_KERNEL(alone, call, call)
{
    GYRE_GLOBAL struct sums *flow = gyre_flow(gyre, alone);
    reply->n = request->n;
    reply->value = gyre_atomic_load(&flow->sum);
    gyre_atomic_add(&flow->sum, 1u);
    gyre_atomic_add(&flow->sum, 1u);
    flow->seen++;
    reply->value += 10 * gyre_atomic_load(&flow->sum) + flow->seen;
    return GYRE_REPLY;
}
