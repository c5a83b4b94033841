/* SPDX-License-Identifier: Apache-2.0 */
/* A number and its flag in one atomic word: a reader finds both, or neither.
 *
 * expects: nothing
 * check: order,races
 * options: --blocks 2
 * request: {"writes":1,"value":0}
 * request: {"writes":0,"value":0} */
#include <gyre/kernel.h>

#define CALL(FIELD) FIELD(u32, writes) FIELD(u32, value)
GYRE_MESSAGE(call, CALL)
#define PAIR(FIELD) FIELD(u32, flagged)
GYRE_MESSAGE(pair, PAIR)

GYRE_KERNEL_WITH(k, call, call, pair, gyre_none)
{
    reply->writes = request->writes;
    reply->value = 7;
    if (request->writes) {
        gyre_atomic_store(&state->flagged, 7u << 1 | 1u);
    } else {
        const u32 flagged = gyre_atomic_load(&state->flagged);
        reply->value = flagged & 1 ? flagged >> 1 : 7;
    }
    return GYRE_REPLY;
}
