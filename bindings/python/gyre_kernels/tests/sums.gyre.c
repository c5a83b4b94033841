/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline: `halve` sends even numbers to `add`, which answers; it answers odd numbers itself. */
#include <gyre/kernel.h>

#define NUMBER(FIELD) FIELD(u64, number)
GYRE_MESSAGE(number, NUMBER)
#define PART(FIELD) FIELD(u64, value) FIELD(u64, of)
GYRE_MESSAGE(part, PART)

#define HALVES(PORT) PORT(part, halves, 1)
GYRE_PORTS(halve_ports, HALVES)

GYRE_KERNEL_TO(halve, number, number, halve_ports)
{
    if (request->number % 2) {
        reply->number = request->number;
        return GYRE_REPLY;
    }
    GYRE_GLOBAL part *out = gyre_emit(gyre, halves);
    out->value = request->number / 2;
    out->of = request->number;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(add, part, number)
{
    reply->number = request->value + request->of;
    return GYRE_REPLY;
}
