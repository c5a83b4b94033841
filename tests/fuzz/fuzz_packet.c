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

#include "core/parcel/parcel.h"
#include "gyre/waiting.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sink;

static void ask(struct gyre_parcel *parcel, uint8_t how)
{
    unsigned char bytes[64] = {0};
    const char *text;
    switch (how % 5) {
    case 0:
        sink += gyre_parcel_get_u64(parcel);
        break;
    case 1:
        sink += gyre_parcel_get_u32(parcel, how);
        break;
    case 2:
        text = gyre_parcel_get_text(parcel);
        sink += text ? strlen(text) : 0;
        break;
    case 3:
        gyre_parcel_get(parcel, bytes, how % sizeof bytes);
        sink += bytes[0];
        break;
    default: {
        int descriptor = gyre_parcel_take_descriptor(parcel);
        if (descriptor >= 0)
            abort(); /* none was sent */
    }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    struct gyre_parcel parcel;
    if (size < 8 || size > GYRE_PARCEL_MAX || gyre_parcel_init(&parcel) != GYRE_OK)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    if (send(ends[0], data + 8, size - 8, MSG_DONTWAIT) >= 0 &&
        gyre_parcel_receive(&parcel, ends[1], gyre_clock_ns()) == GYRE_OK) {
        sink += (size_t)gyre_parcel_operation(&parcel) + (size_t)gyre_parcel_status(&parcel);
        for (int i = 0; i < 8; i++)
            ask(&parcel, data[i]);
        sink += gyre_parcel_whole(&parcel);
    }
    close(ends[0]);
    close(ends[1]);
    gyre_parcel_finish(&parcel);
    return 0;
}
