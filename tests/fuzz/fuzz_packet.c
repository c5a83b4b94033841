/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the worker protocol as it arrives: the input is a packet on a socket, whose contents are then asked
 * for in an order that the input chooses. What it says of itself must never lead beyond it. The input also says
 * how many descriptors come beside it, and in how many headers: none of them may stay open.
 */
#include <fcntl.h>
#include <stdbool.h>
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
        if (descriptor >= 0 && close(descriptor) != 0)
            abort(); /* it is nobody's */
    }
    }
}

enum { SENT_MAX = 16 };

/* `count` descriptors, a header for each when `apart`. */
static size_t add_descriptors(char *control, int descriptor, size_t count, bool apart)
{
    const size_t headers = apart ? count : count > 0, each = apart ? 1 : count;
    size_t at = 0;
    for (size_t i = 0; i < headers; i++) {
        struct cmsghdr *header = (struct cmsghdr *)(void *)(control + at);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * each);
        for (size_t k = 0; k < each; k++)
            memcpy(CMSG_DATA(header) + sizeof(int) * k, &descriptor, sizeof descriptor);
        at += CMSG_SPACE(sizeof(int) * each);
    }
    return at;
}

static bool send_packet(int socket, const uint8_t *data, size_t size, uint8_t how)
{
    _Alignas(struct cmsghdr) char control[SENT_MAX * CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {(void *)(uintptr_t)data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control};
    message.msg_controllen = add_descriptors(control, socket, how % SENT_MAX, how & 0x80);
    return sendmsg(socket, &message, MSG_DONTWAIT) >= 0;
}

static int lowest_free(void)
{
    int lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    close(lowest);
    return lowest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    struct gyre_parcel parcel;
    if (size < 8 || size > GYRE_PARCEL_MAX || gyre_parcel_init(&parcel) != GYRE_OK)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    const int on = 1, lowest = lowest_free();
    if (data[7] & 0x40) /* another header comes first then */
        setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    if (send_packet(ends[0], data + 8, size - 8, data[7]) &&
        gyre_parcel_receive(&parcel, ends[1], gyre_clock_ns()) == GYRE_OK) {
        sink += (size_t)gyre_parcel_operation(&parcel) + (size_t)gyre_parcel_status(&parcel);
        for (int i = 0; i < 8; i++)
            ask(&parcel, data[i]);
        sink += gyre_parcel_whole(&parcel);
    }
    gyre_parcel_finish(&parcel);
    if (lowest_free() != lowest)
        abort(); /* a descriptor that came was left open */
    close(ends[0]);
    close(ends[1]);
    return 0;
}
