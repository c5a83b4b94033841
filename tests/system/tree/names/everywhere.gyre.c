/* SPDX-License-Identifier: Apache-2.0 */
/* Names that handlers, headers and generated code use themselves, as those of fields, ports, a message and a kernel. */
#include <gyre/kernel.h>
#define PART0(FIELD) FIELD(u32, place) FIELD(u32, state[3]) FIELD(u32, message) FIELD(u32, reply)
#define PART1(FIELD) FIELD(u32, request) FIELD(u32, context) FIELD(u32, handler) FIELD(u32, index)
#define PART2(FIELD) FIELD(u32, count) FIELD(u32, data) FIELD(u32, key) FIELD(u32, value)
#define PART3(FIELD) FIELD(u32, buffers) FIELD(u32, length) FIELD(u32, slot) FIELD(u32, block)
#define PART4(FIELD) FIELD(u32, lane) FIELD(u32, self) FIELD(u32, queue) FIELD(u32, main)
#define PART5(FIELD) FIELD(u32, gyre) FIELD(u32, scratch) FIELD(u32, out) FIELD(u32, size)
#define LINE0(PORT)  PORT(size, size, 1) PORT(size, place, 1) PORT(size, state, 1) PORT(size, reply, 1)
#define LINE1(PORT)  PORT(size, request, 1) PORT(size, gyre, 1) PORT(size, message, 1) PORT(size, out, 1)
#define SIZE(FIELD)  PART0(FIELD) PART1(FIELD) PART2(FIELD) PART3(FIELD) PART4(FIELD) PART5(FIELD)
GYRE_MESSAGE(size, SIZE)
#define PORTS(PORT) LINE0(PORT) LINE1(PORT)
GYRE_PORTS(ports, PORTS)
GYRE_ACTOR_TO(place, size, size, ports, size)
{
    GYRE_GLOBAL size *o = gyre_emit(gyre, size);
    o->size = request->size + state->size++;
    o = gyre_emit(gyre, gyre);
    o->gyre = request->gyre + state->main++;
    reply->context = request->context;
    return GYRE_REPLY;
}
