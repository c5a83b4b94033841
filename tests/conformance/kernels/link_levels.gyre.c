/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that tell in which order messages of several links were taken. */
#include <gyre/kernel.h>

#include "link_levels.h"

#define SORT_PORTS(PORT) PORT(parcel, plain, 1) PORT(parcel, better, 1) PORT(parcel, urgent, 1)
GYRE_PORTS(sort_ports, SORT_PORTS)

/* Each parcel goes by the link of its level. */
GYRE_KERNEL_TO(sort, parcel, gyre_none, sort_ports)
{
    GYRE_GLOBAL parcel *out = request->level == 0   ? gyre_emit(gyre, plain)
                              : request->level == 1 ? gyre_emit(gyre, better)
                                                    : gyre_emit(gyre, urgent);
    *out = *request;
    return GYRE_NO_REPLY;
}

/* Says as how manieth it was handled. */
GYRE_ACTOR(read, parcel, parcel, counted)
{
    *reply = *request;
    reply->rank = state->count++;
    return GYRE_REPLY;
}

#define PUSH_PORTS(PORT) PORT(parcel, stop, 1) PORT(parcel, turn, 1)
GYRE_PORTS(push_ports, PUSH_PORTS)

GYRE_KERNEL_TO(push, parcel, gyre_none, push_ports)
{
    GYRE_GLOBAL parcel *stop = gyre_emit(gyre, stop), *turn = gyre_emit(gyre, turn);
    *stop = *request;
    stop->level = 0;
    *turn = *request;
    turn->level = 1;
    return GYRE_NO_REPLY;
}

#define WHEEL_PORTS(PORT) PORT(parcel, again, 1)
GYRE_PORTS(wheel_ports, WHEEL_PORTS)

/* Turns until a parcel of another link says that it is enough. */
GYRE_ACTOR_TO(wheel, parcel, parcel, wheel_ports, counted)
{
    if (request->level == 0) {
        state->count = request->number;
        return GYRE_NO_REPLY;
    }
    if (state->count == request->number) {
        *reply = *request;
        return GYRE_REPLY;
    }
    if (request->rank == WHEEL_MOST)
        return gyre_fail(gyre, 9, "nobody stops the wheel");
    GYRE_GLOBAL parcel *out = gyre_emit(gyre, again);
    *out = *request;
    out->rank++;
    return GYRE_NO_REPLY;
}
