/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline that ends in a keyed actor: counts of a converter become degrees, and each sensor has a state of its own. */
#include <gyre/kernel.h>

#include "sensors.h"

#define SCALE_PORTS(PORT) PORT(reading, readings, 1)
GYRE_PORTS(scale_ports, SCALE_PORTS)

GYRE_KERNEL_TO(scale, raw, gyre_none, scale_ports)
{
    if (request->counts > 4095)
        return gyre_fail(gyre, 1, "a converter of 12 bits has no such value");
    GYRE_GLOBAL reading *out = gyre_emit(gyre, readings);
    out->sensor = request->sensor;
    out->celsius = (i32)request->counts / 8 - 256;
    return GYRE_NO_REPLY;
}

GYRE_KEYED_ACTOR(sensors, reading, extremes, extremes, sensor)
{
    if (state->readings == 0 || request->celsius < state->lowest)
        state->lowest = request->celsius;
    if (state->readings == 0 || request->celsius > state->highest)
        state->highest = request->celsius;
    state->readings++;
    *reply = *state;
    return GYRE_REPLY;
}
