/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes, sends, receives and reads messages (parcel.h), and checks every value that it reads. Takes no lock; has no
 * state except the caller's. Must not trust a received length, text or number: a worker runs the user's code and may
 * write anything.
 */
#include "core/parcel/parcel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "gyre/waiting.h"

#define PARCEL_MAGIC   0x57525947u /* "GYRW" */
#define TEXT_NULL      UINT32_MAX
#define POLL_LONGEST   60000
#define MEMORY_WAIT_NS 1000000
#define MEMORY_TRIES   20 /* so many times a call without memory is tried again, also behind its deadline */

struct header {
    uint32_t magic;
    uint16_t version, operation;
    uint32_t length; /* of the whole message */
    uint32_t status;
};

gyre_status gyre_parcel_init(struct gyre_parcel *parcel)
{
    memset(parcel, 0, sizeof *parcel);
    parcel->bytes = malloc(GYRE_PARCEL_MAX);
    return parcel->bytes ? GYRE_OK : gyre_error_set(GYRE_EXHAUSTED, "no memory to talk to a worker process");
}

void gyre_parcel_close_received(int descriptor)
{
    const struct linger none = {.l_onoff = 0};
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none); /* fails for anything but a socket */
    close(descriptor);
}

static void drop_descriptors(struct gyre_parcel *parcel)
{
    for (uint32_t i = 0; i < parcel->descriptor_count; i++)
        if (parcel->descriptors[i] >= 0)
            gyre_parcel_close_received(parcel->descriptors[i]);
    parcel->descriptor_count = 0;
}

void gyre_parcel_finish(struct gyre_parcel *parcel)
{
    drop_descriptors(parcel);
    free(parcel->bytes);
    parcel->bytes = NULL;
}

/* ---- writing ---- */

void gyre_parcel_begin(struct gyre_parcel *parcel, enum gyre_parcel_operation operation, gyre_status status)
{
    const struct header header = {.magic = PARCEL_MAGIC,
                                  .version = GYRE_PARCEL_VERSION,
                                  .operation = (uint16_t)operation,
                                  .status = (uint32_t)status};
    drop_descriptors(parcel);
    memcpy(parcel->bytes, &header, sizeof header);
    parcel->length = parcel->at = sizeof header;
    parcel->broken = parcel->starved = false;
}

static struct header header_of(const struct gyre_parcel *parcel)
{
    struct header header;
    memcpy(&header, parcel->bytes, sizeof header);
    return header;
}

enum gyre_parcel_operation gyre_parcel_operation(const struct gyre_parcel *parcel)
{
    return (enum gyre_parcel_operation)header_of(parcel).operation;
}

gyre_status gyre_parcel_status(const struct gyre_parcel *parcel)
{
    return (gyre_status)header_of(parcel).status;
}

void gyre_parcel_put(struct gyre_parcel *parcel, const void *bytes, size_t size)
{
    if (size > GYRE_PARCEL_MAX - parcel->length) {
        parcel->broken = true;
        return;
    }
    if (size)
        memcpy(parcel->bytes + parcel->length, bytes, size);
    parcel->length += size;
}

void gyre_parcel_put_u64(struct gyre_parcel *parcel, uint64_t value)
{
    gyre_parcel_put(parcel, &value, sizeof value);
}

void gyre_parcel_put_text(struct gyre_parcel *parcel, const char *text)
{
    size_t length = text ? strlen(text) + 1 : TEXT_NULL;
    gyre_parcel_put_u64(parcel, length);
    if (text)
        gyre_parcel_put(parcel, text, length);
}

void gyre_parcel_put_descriptor(struct gyre_parcel *parcel, int descriptor)
{
    if (parcel->descriptor_count == GYRE_PARCEL_DESCRIPTORS_MAX)
        parcel->broken = true;
    else
        parcel->descriptors[parcel->descriptor_count++] = descriptor;
}

/* ---- reading ---- */

void gyre_parcel_get(struct gyre_parcel *parcel, void *bytes, size_t size)
{
    if (parcel->broken || size > parcel->length - parcel->at) {
        parcel->broken = true;
        memset(bytes, 0, size);
        return;
    }
    memcpy(bytes, parcel->bytes + parcel->at, size);
    parcel->at += size;
}

uint64_t gyre_parcel_get_u64(struct gyre_parcel *parcel)
{
    uint64_t value;
    gyre_parcel_get(parcel, &value, sizeof value);
    return value;
}

uint32_t gyre_parcel_get_u32(struct gyre_parcel *parcel, uint32_t most)
{
    uint64_t value = gyre_parcel_get_u64(parcel);
    if (value > most) {
        parcel->broken = true;
        return 0;
    }
    return (uint32_t)value;
}

const char *gyre_parcel_get_text(struct gyre_parcel *parcel)
{
    uint64_t length = gyre_parcel_get_u64(parcel);
    if (!parcel->broken && length == TEXT_NULL)
        return NULL;
    const char *text = (const char *)parcel->bytes + parcel->at;
    if (parcel->broken || length == 0 || length > parcel->length - parcel->at || text[length - 1] != '\0' ||
        strlen(text) != length - 1) {
        parcel->broken = true;
        return "";
    }
    parcel->at += length;
    return text;
}

int gyre_parcel_take_descriptor(struct gyre_parcel *parcel)
{
    for (uint32_t i = 0; i < parcel->descriptor_count; i++) {
        int descriptor = parcel->descriptors[i];
        parcel->descriptors[i] = -1;
        if (descriptor >= 0)
            return descriptor;
    }
    parcel->broken = true;
    return -1;
}

bool gyre_parcel_whole(const struct gyre_parcel *parcel)
{
    return !parcel->broken && parcel->at == parcel->length;
}

gyre_status gyre_parcel_refuse(const struct gyre_parcel *parcel, gyre_status status, const char *sentence)
{
    if (parcel->starved)
        return gyre_error_set(GYRE_EXHAUSTED,
                              "out of memory: a message of another process could not be read");
    return gyre_error_set_text(status, sentence);
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

/*
 * Room for the descriptors of one message, aligned as recvmsg wants it. It holds all descriptors that a packet may
 * bring (Linux: SCM_MAX_FD), because Linux itself closes a descriptor that does not fit, and the call may wait then
 * for as long as the sender of the packet wants (gyre_parcel_close_received).
 */
enum { PACKET_DESCRIPTORS_MAX = 253 };
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int) * PACKET_DESCRIPTORS_MAX)];
};

/* Attaches the lent descriptors to the packet. They are not closed here, because their owner keeps them. */
static void attach_descriptors(struct gyre_parcel *parcel, struct msghdr *message, union control *control)
{
    size_t size = sizeof(int) * parcel->descriptor_count;
    if (!size)
        return;
    memset(control, 0, sizeof *control);
    message->msg_control = control->bytes;
    message->msg_controllen = (socklen_t)CMSG_SPACE(size); /* the type that POSIX gives it */
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = (socklen_t)CMSG_LEN(size);
    memcpy(CMSG_DATA(header), parcel->descriptors, size);
}

/*
 * Waits a moment, in which the kernel may find memory for the call that had none. OK, TIMEOUT. The first tries do not
 * look at the deadline: a call that may not wait for the other end would take a want of memory for its silence.
 */
static gyre_status await_memory(uint64_t deadline_ns, unsigned tries)
{
    const struct timespec moment = gyre_clock_timespec(MEMORY_WAIT_NS);
    if (tries > MEMORY_TRIES && gyre_clock_ns() >= deadline_ns)
        return gyre_error_set(GYRE_TIMEOUT, "out of memory: a message was not passed on in time");
    nanosleep(&moment, NULL);
    return GYRE_OK;
}

/*
 * Waits until a call of the socket that failed, as errno says, is worth another try. OK, TIMEOUT, LOST. A want of
 * memory passes: it does not tell that the other end is gone. `tries`: calls that failed so far.
 */
static gyre_status await_next_try(int socket, short events, uint64_t deadline_ns, unsigned tries)
{
    switch (errno) {
    case EAGAIN:
    case EINTR:
        return await(socket, events, deadline_ns);
    case ENOMEM:
    case ENOBUFS:
        return await_memory(deadline_ns, tries);
    default:
        return is_gone();
    }
}

gyre_status gyre_parcel_send(struct gyre_parcel *parcel, int socket, uint64_t deadline_ns)
{
    union control control;
    struct iovec part = {parcel->bytes, parcel->length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct header header = header_of(parcel);
    header.length = (uint32_t)parcel->length;
    memcpy(parcel->bytes, &header, sizeof header);
    attach_descriptors(parcel, &message, &control);
    parcel->descriptor_count = 0;
    if (parcel->broken)
        return gyre_error_set(GYRE_INVALID,
                              "a call of a worker process needs more than %d bytes of arguments",
                              GYRE_PARCEL_MAX);
    for (unsigned tries = 1;; tries++) {
        if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
            return GYRE_OK;
        gyre_status status = await_next_try(socket, POLLOUT, deadline_ns, tries);
        if (status != GYRE_OK)
            return status;
    }
}

/* Keeps as many of the descriptors as a message may bring, and closes the others. Returns whether it closed any. */
static bool keep_of_header(struct gyre_parcel *parcel, const struct cmsghdr *header)
{
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    bool surplus = false;
    for (size_t i = 0; i < count; i++) {
        int descriptor;
        memcpy(&descriptor, CMSG_DATA(header) + i * sizeof descriptor, sizeof descriptor);
        if (parcel->descriptor_count < GYRE_PARCEL_DESCRIPTORS_MAX) {
            parcel->descriptors[parcel->descriptor_count++] = descriptor;
        } else {
            gyre_parcel_close_received(descriptor);
            surplus = true;
        }
    }
    return surplus;
}

/*
 * Keeps the descriptors of all headers of the packet: the descriptors of a header that is not read would stay open
 * for ever.
 */
static bool keep_descriptors(struct gyre_parcel *parcel, struct msghdr *message)
{
    bool surplus = false;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header))
        if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
            header->cmsg_len >= CMSG_LEN(0))
            surplus |= keep_of_header(parcel, header);
    return surplus;
}

static gyre_status check_message(const struct gyre_parcel *parcel, int flags, bool surplus)
{
    struct header header;
    if (surplus)
        return gyre_error_set(GYRE_INTERNAL,
                              "a message came with more open files than the %d that it may bring",
                              GYRE_PARCEL_DESCRIPTORS_MAX);
    if (flags & MSG_CTRUNC)
        return gyre_error_set(
            GYRE_EXHAUSTED,
            "a message came with open files, and this process may have no more of them: raise "
            "the limit of open files (ulimit -n)");
    if (parcel->length < sizeof header || (flags & MSG_TRUNC))
        return gyre_error_set(GYRE_INTERNAL, "a worker process sent a message of %zu bytes that was cut",
                              parcel->length);
    header = header_of(parcel);
    if (header.magic != PARCEL_MAGIC || header.length != parcel->length)
        return gyre_error_set(GYRE_INTERNAL, "a worker process sent %zu bytes that are no message",
                              parcel->length);
    if (header.version != GYRE_PARCEL_VERSION)
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "the other program speaks version %u of the protocol, this library %u: install "
                              "both from one version of Gyre, and start again what ran during an upgrade",
                              header.version, GYRE_PARCEL_VERSION);
    return GYRE_OK;
}

/* Takes a received packet as the message. An empty packet is no message, but may bring descriptors all the same. */
static gyre_status take_packet(struct gyre_parcel *parcel, struct msghdr *message, size_t length)
{
    parcel->length = length;
    parcel->at = sizeof(struct header);
    parcel->broken = parcel->starved = false;
    bool surplus = keep_descriptors(parcel, message);
    gyre_status status = length ? check_message(parcel, message->msg_flags, surplus) : is_gone();
    if (status != GYRE_OK)
        drop_descriptors(parcel);
    return status;
}

gyre_status gyre_parcel_receive(struct gyre_parcel *parcel, int socket, uint64_t deadline_ns)
{
    union control control;
    drop_descriptors(parcel);
    for (unsigned tries = 1;; tries++) {
        struct iovec part = {parcel->bytes, GYRE_PARCEL_MAX};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = control.bytes,
                                 .msg_controllen = sizeof control.bytes};
        ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (got >= 0)
            return take_packet(parcel, &message, (size_t)got);
        gyre_status status = await_next_try(socket, POLLIN, deadline_ns, tries);
        if (status != GYRE_OK)
            return status;
    }
}
