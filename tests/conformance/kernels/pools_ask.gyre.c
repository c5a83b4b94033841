/* SPDX-License-Identifier: Apache-2.0 */
/* A block kernel that asks, and sends to a pool. */
#include <gyre/kernel.h>

#define TELLER_PORTS(PORT, ASK) PORT(u64, jobs, 1) ASK(u64, u64, about, 1)
GYRE_PORTS_WITH_ASKS(teller_ports, TELLER_PORTS)

/* Passes on what it was told by whom it asked. */
GYRE_BLOCK_KERNEL_TO(teller, u64, gyre_none, teller_ports, gyre_none)
{
    const u32 token = gyre_token(gyre);
    gyre_barrier(gyre);
    if (gyre_lane(gyre) > 0)
        return GYRE_NO_REPLY;
    if (token)
        *gyre_emit(gyre, jobs) = *request;
    else
        *gyre_ask(gyre, about, 1) = *request;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(clerk, u64, u64)
{
    *reply = *request * 3;
    return GYRE_REPLY;
}

GYRE_KERNEL(porter, u64, u64)
{
    *reply = *request + 1;
    return GYRE_REPLY;
}
