/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the worker protocol as it arrives: the input is a packet on a socket, whose contents are then asked
 * for in an order that the input chooses. What it says of itself must never lead beyond it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/isolation/wire.h"
#include "gyre/waiting.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sink;

static void ask(struct gyre_wire *wire, uint8_t how)
{
    unsigned char bytes[64] = {0};
    const char *text;
    switch (how % 5) {
    case 0:
        sink += gyre_wire_get_u64(wire);
        break;
    case 1:
        sink += gyre_wire_get_u32(wire, how);
        break;
    case 2:
        text = gyre_wire_get_text(wire);
        sink += text ? strlen(text) : 0;
        break;
    case 3:
        gyre_wire_get(wire, bytes, how % sizeof bytes);
        sink += bytes[0];
        break;
    default: {
        int descriptor = gyre_wire_take_descriptor(wire);
        if (descriptor >= 0)
            abort(); /* none was sent */
    }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    struct gyre_wire wire;
    if (size < 8 || size > GYRE_WIRE_MAX || gyre_wire_init(&wire) != GYRE_OK)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    if (send(ends[0], data + 8, size - 8, MSG_DONTWAIT) >= 0 &&
        gyre_wire_receive(&wire, ends[1], gyre_clock_ns()) == GYRE_OK) {
        sink += (size_t)gyre_wire_operation(&wire) + (size_t)gyre_wire_status(&wire);
        for (int i = 0; i < 8; i++)
            ask(&wire, data[i]);
        sink += gyre_wire_whole(&wire);
    }
    close(ends[0]);
    close(ends[1]);
    gyre_wire_finish(&wire);
    return 0;
}
