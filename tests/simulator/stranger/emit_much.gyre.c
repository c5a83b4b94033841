/* SPDX-License-Identifier: Apache-2.0 */
/* Planted: a call emits more messages than its port has room for.
 *
 * expects: null
 * check: memory,deadlock
 * options: --config emit_much.ini --pipeline items
 * request: {"count":3} */
#include <gyre/kernel.h>

#define ASK(FIELD) FIELD(u32, count)
GYRE_MESSAGE(asked, ASK)
#define NEXT(PORT) PORT(asked, next, 2)
GYRE_PORTS(next_ports, NEXT)

GYRE_KERNEL_TO(cut, asked, gyre_none, next_ports)
{
    for (u32 i = 0; i < request->count; i++) {
        GYRE_GLOBAL asked *out = gyre_emit(gyre, next);
        out->count = i; /* first */
    }
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(take, asked, asked)
{
    *reply = *request;
    return request->count == 1 ? GYRE_REPLY : GYRE_NO_REPLY;
}
