/* SPDX-License-Identifier: Apache-2.0 */
/* Two numbers, both atomic: a reader may see the flag, and not the value that was stored before it.
 *
 * expects: older value
 * check: order,races
 * options: --blocks 2
 * request: {"writes":1,"value":0}
 * request: {"writes":0,"value":0} */
#include <gyre/kernel.h>

#define CALL(FIELD) FIELD(u32, writes) FIELD(u32, value)
GYRE_MESSAGE(call, CALL)
#define PAIR(FIELD) FIELD(u32, value) FIELD(u32, flag)
GYRE_MESSAGE(pair, PAIR)

GYRE_KERNEL_WITH(k, call, call, pair, gyre_none)
{
    reply->writes = request->writes;
    reply->value = 7;
    if (request->writes) {
        gyre_atomic_store(&state->value, 7u);
        gyre_atomic_store(&state->flag, 1u);
    } else if (gyre_atomic_load(&state->flag)) {
        reply->value = gyre_atomic_load(&state->value);
    }
    return GYRE_REPLY;
}
