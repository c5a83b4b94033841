/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between the core and a worker process, or a program that attaches, one packet each over a Unix
 * socket (SOCK_SEQPACKET).
 *
 * A message is a header (magic, version, what it is, length, status) and values in order. Both ends run on
 * one machine, so numbers have its byte order. Nothing that comes in is believed: every read is checked
 * against the length, texts must end where they say, and one bad value makes the whole message "broken".
 * Descriptors travel beside it. Threads: a message belongs to one thread at a time.
 */
#ifndef GYRE_CORE_ISOLATION_WIRE_H
#define GYRE_CORE_ISOLATION_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

/** Both ends must have it; any change of a message or of a struct that is sent bumps it. */
#define GYRE_WIRE_VERSION 3
enum { GYRE_WIRE_MAX = 128 * 1024, GYRE_WIRE_DESCRIPTORS_MAX = 3 };

/** What a message is. From the core to the worker, each answered by a message of the same number... */
enum gyre_wire_operation {
    GYRE_WIRE_OPEN = 1,
    GYRE_WIRE_CLOSE,
    GYRE_WIRE_COMPILE,
    GYRE_WIRE_MODULE_LOAD,
    GYRE_WIRE_MODULE_KERNEL,
    GYRE_WIRE_QUEUE_ALLOC,
    GYRE_WIRE_MEMORY_ALLOC,
    GYRE_WIRE_TRANSFER,
    GYRE_WIRE_LAUNCH,
    GYRE_WIRE_WAIT,
    GYRE_WIRE_NOTIFY,
    GYRE_WIRE_RELEASE, /* of any object */
    GYRE_WIRE_MEMORY_COPY,
    GYRE_WIRE_PROMOTE, /* of a worker that stood by: it is the worker now */
    /* ... except that this one brings another connection, and is not answered */
    GYRE_WIRE_CONNECT,
    /* from the worker to the core, not answered */
    GYRE_WIRE_LOG,
    GYRE_WIRE_KERNEL_LOG,
    /* between programs that share a kernel's queues (core/attach): asked and answered once, ... */
    GYRE_WIRE_ATTACH,
    /* ... then told by the one that serves: send no more; that was all */
    GYRE_WIRE_SHUT,
    GYRE_WIRE_ENDED,
};

struct gyre_wire {
    unsigned char *bytes;                       /* GYRE_WIRE_MAX of them */
    size_t length, at;                          /* of the message; where the next value is read */
    bool broken;                                /* a value did not fit, was not there or made no sense */
    int descriptors[GYRE_WIRE_DESCRIPTORS_MAX]; /* of a message that came in: the holder's, who closes them */
    uint32_t descriptor_count;
};

/** EXHAUSTED without memory. */
gyre_status gyre_wire_init(struct gyre_wire *wire);
/** Closes descriptors that came in and were not taken. */
void gyre_wire_finish(struct gyre_wire *wire);

/** Starts a message; what was in it is forgotten, and its descriptors are closed. */
void gyre_wire_begin(struct gyre_wire *wire, enum gyre_wire_operation operation, gyre_status status);
enum gyre_wire_operation gyre_wire_operation(const struct gyre_wire *wire);
gyre_status gyre_wire_status(const struct gyre_wire *wire);

void gyre_wire_put(struct gyre_wire *wire, const void *bytes, size_t size);
void gyre_wire_put_u64(struct gyre_wire *wire, uint64_t value);
/** NULL is a text of its own. */
void gyre_wire_put_text(struct gyre_wire *wire, const char *text);
/** Lends a descriptor to the message that is sent next. */
void gyre_wire_put_descriptor(struct gyre_wire *wire, int descriptor);

/** Zeroes and "broken" when the message has not that much left. */
void gyre_wire_get(struct gyre_wire *wire, void *bytes, size_t size);
uint64_t gyre_wire_get_u64(struct gyre_wire *wire);
/** As above, for numbers that must not be larger than `most`. */
uint32_t gyre_wire_get_u32(struct gyre_wire *wire, uint32_t most);
/** Points into the message, until it is used again. "" for what is broken. */
const char *gyre_wire_get_text(struct gyre_wire *wire);
/** The next descriptor that came with the message, now the caller's; -1 and "broken" when there is none. */
int gyre_wire_take_descriptor(struct gyre_wire *wire);
/** Everything was read and made sense. */
bool gyre_wire_whole(const struct gyre_wire *wire);

/**
 * Sends the message. LOST when the other end is gone, TIMEOUT at the deadline (nothing was sent then),
 * INVALID for a message that is broken, i.e. longer than one may be.
 */
gyre_status gyre_wire_send(struct gyre_wire *wire, int socket, uint64_t deadline_ns);
/** Receives one. LOST, TIMEOUT, INTERNAL for what is no message of this version. */
gyre_status gyre_wire_receive(struct gyre_wire *wire, int socket, uint64_t deadline_ns);

#endif
