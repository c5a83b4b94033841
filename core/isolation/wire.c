/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets with checked contents. No locks, no state beside the caller's. Must not trust a length, a text or a
 * number that came in: a worker runs the user's code and may write anything.
 */
#include "core/isolation/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

#define WIRE_MAGIC   0x57525947u /* "GYRW" */
#define TEXT_NULL    UINT32_MAX
#define POLL_LONGEST 60000

struct header {
    uint32_t magic;
    uint16_t version, operation;
    uint32_t length; /* of the whole message */
    uint32_t status;
};

gyre_status gyre_wire_init(struct gyre_wire *wire)
{
    memset(wire, 0, sizeof *wire);
    wire->bytes = malloc(GYRE_WIRE_MAX);
    return wire->bytes ? GYRE_OK : gyre_error_set(GYRE_EXHAUSTED, "no memory to talk to a worker process");
}

static void drop_descriptors(struct gyre_wire *wire)
{
    for (uint32_t i = 0; i < wire->descriptor_count; i++)
        if (wire->descriptors[i] >= 0)
            close(wire->descriptors[i]);
    wire->descriptor_count = 0;
}

void gyre_wire_finish(struct gyre_wire *wire)
{
    drop_descriptors(wire);
    free(wire->bytes);
    wire->bytes = NULL;
}

/* ---- writing ---- */

void gyre_wire_begin(struct gyre_wire *wire, enum gyre_wire_operation operation, gyre_status status)
{
    const struct header header = {.magic = WIRE_MAGIC,
                                  .version = GYRE_WIRE_VERSION,
                                  .operation = (uint16_t)operation,
                                  .status = (uint32_t)status};
    drop_descriptors(wire);
    memcpy(wire->bytes, &header, sizeof header);
    wire->length = wire->at = sizeof header;
    wire->broken = false;
}

static struct header header_of(const struct gyre_wire *wire)
{
    struct header header;
    memcpy(&header, wire->bytes, sizeof header);
    return header;
}

enum gyre_wire_operation gyre_wire_operation(const struct gyre_wire *wire)
{
    return (enum gyre_wire_operation)header_of(wire).operation;
}

gyre_status gyre_wire_status(const struct gyre_wire *wire)
{
    return (gyre_status)header_of(wire).status;
}

void gyre_wire_put(struct gyre_wire *wire, const void *bytes, size_t size)
{
    if (size > GYRE_WIRE_MAX - wire->length) {
        wire->broken = true;
        return;
    }
    if (size)
        memcpy(wire->bytes + wire->length, bytes, size);
    wire->length += size;
}

void gyre_wire_put_u64(struct gyre_wire *wire, uint64_t value)
{
    gyre_wire_put(wire, &value, sizeof value);
}

void gyre_wire_put_text(struct gyre_wire *wire, const char *text)
{
    size_t length = text ? strlen(text) + 1 : TEXT_NULL;
    gyre_wire_put_u64(wire, length);
    if (text)
        gyre_wire_put(wire, text, length);
}

void gyre_wire_put_descriptor(struct gyre_wire *wire, int descriptor)
{
    if (wire->descriptor_count == GYRE_WIRE_DESCRIPTORS_MAX)
        wire->broken = true;
    else
        wire->descriptors[wire->descriptor_count++] = descriptor;
}

/* ---- reading ---- */

void gyre_wire_get(struct gyre_wire *wire, void *bytes, size_t size)
{
    if (wire->broken || size > wire->length - wire->at) {
        wire->broken = true;
        memset(bytes, 0, size);
        return;
    }
    memcpy(bytes, wire->bytes + wire->at, size);
    wire->at += size;
}

uint64_t gyre_wire_get_u64(struct gyre_wire *wire)
{
    uint64_t value;
    gyre_wire_get(wire, &value, sizeof value);
    return value;
}

uint32_t gyre_wire_get_u32(struct gyre_wire *wire, uint32_t most)
{
    uint64_t value = gyre_wire_get_u64(wire);
    if (value > most) {
        wire->broken = true;
        return 0;
    }
    return (uint32_t)value;
}

const char *gyre_wire_get_text(struct gyre_wire *wire)
{
    uint64_t length = gyre_wire_get_u64(wire);
    if (!wire->broken && length == TEXT_NULL)
        return NULL;
    const char *text = (const char *)wire->bytes + wire->at;
    if (wire->broken || length == 0 || length > wire->length - wire->at || text[length - 1] != '\0' ||
        strlen(text) != length - 1) {
        wire->broken = true;
        return "";
    }
    wire->at += length;
    return text;
}

int gyre_wire_take_descriptor(struct gyre_wire *wire)
{
    for (uint32_t i = 0; i < wire->descriptor_count; i++) {
        int descriptor = wire->descriptors[i];
        wire->descriptors[i] = -1;
        if (descriptor >= 0)
            return descriptor;
    }
    wire->broken = true;
    return -1;
}

bool gyre_wire_whole(const struct gyre_wire *wire)
{
    return !wire->broken && wire->at == wire->length;
}

/* ---- the socket ---- */

/* Waits until the socket is ready for `events`. OK, TIMEOUT. */
static gyre_status await(int socket, short events, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now = gyre_clock_ns();
        uint64_t left_ms = deadline_ns <= now ? 0 : (deadline_ns - now) / 1000000 + 1;
        struct pollfd wait = {.fd = socket, .events = events};
        int ready = poll(&wait, 1, (int)(left_ms < POLL_LONGEST ? left_ms : POLL_LONGEST));
        if (ready > 0)
            return GYRE_OK;
        if (gyre_clock_ns() >= deadline_ns)
            return gyre_error_set(GYRE_TIMEOUT, "a worker process did not answer in time");
    }
}

static gyre_status is_gone(void)
{
    return gyre_error_set(GYRE_LOST, "the worker process is gone");
}

/* Room for the descriptors of one message, aligned as the interface wants it. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int) * GYRE_WIRE_DESCRIPTORS_MAX)];
};

/* What was lent leaves with the message and is not closed here. */
static void attach_descriptors(struct gyre_wire *wire, struct msghdr *message, union control *control)
{
    size_t size = sizeof(int) * wire->descriptor_count;
    if (!size)
        return;
    memset(control, 0, sizeof *control);
    message->msg_control = control->bytes;
    message->msg_controllen = CMSG_SPACE(size);
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), wire->descriptors, size);
}

gyre_status gyre_wire_send(struct gyre_wire *wire, int socket, uint64_t deadline_ns)
{
    union control control;
    struct iovec part = {wire->bytes, wire->length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct header header = header_of(wire);
    header.length = (uint32_t)wire->length;
    memcpy(wire->bytes, &header, sizeof header);
    attach_descriptors(wire, &message, &control);
    wire->descriptor_count = 0;
    if (wire->broken)
        return gyre_error_set(
            GYRE_INVALID, "a call of a worker process needs more than %d bytes of arguments", GYRE_WIRE_MAX);
    for (;;) {
        if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
            return GYRE_OK;
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            return is_gone();
        gyre_status status = await(socket, POLLOUT, deadline_ns);
        if (status != GYRE_OK)
            return status;
    }
}

static void keep_descriptors(struct gyre_wire *wire, struct msghdr *message)
{
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
        return;
    wire->descriptor_count = (uint32_t)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(wire->descriptors, CMSG_DATA(header), sizeof(int) * wire->descriptor_count);
}

static gyre_status check_message(const struct gyre_wire *wire, int flags)
{
    struct header header;
    if (wire->length < sizeof header || (flags & (MSG_TRUNC | MSG_CTRUNC)))
        return gyre_error_set(GYRE_INTERNAL, "a worker process sent a message of %zu bytes that was cut",
                              wire->length);
    header = header_of(wire);
    if (header.magic != WIRE_MAGIC || header.length != wire->length)
        return gyre_error_set(GYRE_INTERNAL, "a worker process sent %zu bytes that are no message",
                              wire->length);
    if (header.version != GYRE_WIRE_VERSION)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "the worker program speaks version %u of the protocol, this library %u: install "
            "both from one version of Gyre",
            header.version, GYRE_WIRE_VERSION);
    return GYRE_OK;
}

gyre_status gyre_wire_receive(struct gyre_wire *wire, int socket, uint64_t deadline_ns)
{
    union control control;
    drop_descriptors(wire);
    for (;;) {
        struct iovec part = {wire->bytes, GYRE_WIRE_MAX};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = control.bytes,
                                 .msg_controllen = sizeof control.bytes};
        ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (got > 0) {
            wire->length = (size_t)got;
            wire->at = sizeof(struct header);
            wire->broken = false;
            keep_descriptors(wire, &message);
            return check_message(wire, message.msg_flags);
        }
        if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            return is_gone();
        gyre_status status = await(socket, POLLIN, deadline_ns);
        if (status != GYRE_OK)
            return status;
    }
}
