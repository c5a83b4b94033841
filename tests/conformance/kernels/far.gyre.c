/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that sends on what it gets, and one whose device dies of a 1. */
#include <gyre/kernel.h>

#define FAR_PORTS(PORT) PORT(u64, out, 1)
GYRE_PORTS(far_ports, FAR_PORTS)

GYRE_KERNEL_TO(far_pass, u64, gyre_none, far_ports)
{
    *gyre_emit(gyre, out) = *request;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(far_die, u64, gyre_none)
{
    GYRE_GLOBAL u64 *nowhere = (GYRE_GLOBAL u64 *)(*request << 4);
    if (nowhere)
        *nowhere = *request;
    return GYRE_NO_REPLY;
}
