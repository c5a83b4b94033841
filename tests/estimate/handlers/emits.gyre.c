/* SPDX-License-Identifier: Apache-2.0 */
/* A stage of a pipeline: what it emits leads nowhere here, which is no failure of its own. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define NEXT(PORT) PORT(work, next, 1)
GYRE_PORTS(next_ports, NEXT)

GYRE_KERNEL_TO(emits, work, gyre_none, next_ports)
{
    *gyre_emit(gyre, next) = *request;
    return GYRE_NO_REPLY;
}
