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
#ifndef GYRE_CORE_PARCEL_PARCEL_H
#define GYRE_CORE_PARCEL_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

/** Both ends must have it; any change of a message or of a struct that is sent bumps it. */
#define GYRE_PARCEL_VERSION 4
enum { GYRE_PARCEL_MAX = 128 * 1024, GYRE_PARCEL_DESCRIPTORS_MAX = 3 };

/** What a message is. From the core to the worker, each answered by a message of the same number... */
enum gyre_parcel_operation {
    GYRE_PARCEL_OPEN = 1,
    GYRE_PARCEL_CLOSE,
    GYRE_PARCEL_COMPILE,
    GYRE_PARCEL_MODULE_LOAD,
    GYRE_PARCEL_MODULE_KERNEL,
    GYRE_PARCEL_QUEUE_ALLOC,
    GYRE_PARCEL_MEMORY_ALLOC,
    GYRE_PARCEL_TRANSFER,
    GYRE_PARCEL_LAUNCH,
    GYRE_PARCEL_WAIT,
    GYRE_PARCEL_NOTIFY,
    GYRE_PARCEL_RELEASE, /* of any object */
    GYRE_PARCEL_MEMORY_COPY,
    GYRE_PARCEL_PROMOTE, /* of a worker that stood by: it is the worker now */
    /* ... except that this one brings another connection, and is not answered */
    GYRE_PARCEL_CONNECT,
    /* from the worker to the core, not answered */
    GYRE_PARCEL_LOG,
    GYRE_PARCEL_KERNEL_LOG,
    /* between programs that share a kernel's queues (core/attach): asked and answered once, ... */
    GYRE_PARCEL_ATTACH,
    /* ... then told by the one that serves: send no more; that was all */
    GYRE_PARCEL_SHUT,
    GYRE_PARCEL_ENDED,
    /* in place of an attachment: what a kernel keeps is asked for, and told in as many packets as it takes */
    GYRE_PARCEL_STATE,
};

struct gyre_parcel {
    unsigned char *bytes; /* GYRE_PARCEL_MAX of them */
    size_t length, at;    /* of the message; where the next value is read */
    bool broken;          /* a value did not fit, was not there or made no sense */
    bool starved;         /* ... or this process had no memory for it: nothing is wrong with the message */
    int descriptors
        [GYRE_PARCEL_DESCRIPTORS_MAX]; /* of a message that came in: the holder's, who closes them */
    uint32_t descriptor_count;
};

/** EXHAUSTED without memory. */
gyre_status gyre_parcel_init(struct gyre_parcel *parcel);
/** Closes descriptors that came in and were not taken. */
void gyre_parcel_finish(struct gyre_parcel *parcel);

/** Starts a message; what was in it is forgotten, and its descriptors are closed. */
void gyre_parcel_begin(struct gyre_parcel *parcel, enum gyre_parcel_operation operation, gyre_status status);
enum gyre_parcel_operation gyre_parcel_operation(const struct gyre_parcel *parcel);
gyre_status gyre_parcel_status(const struct gyre_parcel *parcel);

void gyre_parcel_put(struct gyre_parcel *parcel, const void *bytes, size_t size);
void gyre_parcel_put_u64(struct gyre_parcel *parcel, uint64_t value);
/** NULL is a text of its own. */
void gyre_parcel_put_text(struct gyre_parcel *parcel, const char *text);
/** Lends a descriptor to the message that is sent next. */
void gyre_parcel_put_descriptor(struct gyre_parcel *parcel, int descriptor);

/** Zeroes and "broken" when the message has not that much left. */
void gyre_parcel_get(struct gyre_parcel *parcel, void *bytes, size_t size);
uint64_t gyre_parcel_get_u64(struct gyre_parcel *parcel);
/** As above, for numbers that must not be larger than `most`. */
uint32_t gyre_parcel_get_u32(struct gyre_parcel *parcel, uint32_t most);
/** Points into the message, until it is used again. "" for what is broken. */
const char *gyre_parcel_get_text(struct gyre_parcel *parcel);
/** The next descriptor that came with the message, now the caller's; -1 and "broken" when there is none. */
int gyre_parcel_take_descriptor(struct gyre_parcel *parcel);
/** Everything was read and made sense. */
bool gyre_parcel_whole(const struct gyre_parcel *parcel);
/** What to say of one that is not so: `status` with that sentence, but EXHAUSTED where memory was what lacked. */
gyre_status gyre_parcel_refuse(const struct gyre_parcel *parcel, gyre_status status, const char *sentence);

/**
 * Sends the message. LOST when the other end is gone, TIMEOUT at the deadline (nothing was sent then),
 * INVALID for a message that is broken, i.e. longer than one may be.
 */
gyre_status gyre_parcel_send(struct gyre_parcel *parcel, int socket, uint64_t deadline_ns);
/**
 * Receives one. LOST, TIMEOUT, INTERNAL for what is no message of this version or brings more descriptors than a
 * message may, EXHAUSTED when this process may not have the descriptors. All descriptors of a message that is
 * refused are closed.
 */
gyre_status gyre_parcel_receive(struct gyre_parcel *parcel, int socket, uint64_t deadline_ns);

#endif
