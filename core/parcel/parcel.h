/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parcel is a message between the core and a worker process, or between a server and a program that attaches. Each
 * message is one packet over a Unix socket (SOCK_SEQPACKET). parcel.c writes, sends, receives and reads messages.
 *
 * A message is a header (magic, version, operation, length, status) and values in order. Both ends run on one
 * machine, so numbers have its byte order. The receiver believes nothing: every read is checked against the length,
 * texts must end where they say, and one bad value makes the whole message "broken". Descriptors travel beside the
 * bytes. Threads: a message belongs to one thread at a time.
 */
#ifndef GYRE_CORE_PARCEL_PARCEL_H
#define GYRE_CORE_PARCEL_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

/** Both ends must have the same version. Raise it with any change of a message or of a struct that is sent. */
#define GYRE_PARCEL_VERSION 9
enum { GYRE_PARCEL_MAX = 128 * 1024, GYRE_PARCEL_DESCRIPTORS_MAX = 3 };

/** What a message is. The core sends these to a worker, which answers each with a message of the same operation... */
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
    GYRE_PARCEL_RELEASE, /* releases an object of any kind */
    GYRE_PARCEL_MEMORY_COPY,
    GYRE_PARCEL_PROMOTE, /* tells a worker that stood by that it is the worker now */
    /* ... except CONNECT, which brings a further connection and is not answered */
    GYRE_PARCEL_CONNECT,
    /* a worker sends these to the core, which does not answer */
    GYRE_PARCEL_LOG,
    GYRE_PARCEL_KERNEL_LOG,
    /* between programs that share a kernel's queues (core/attach): the client asks, the server answers once, ... */
    GYRE_PARCEL_ATTACH,
    /* ... then the server tells: SHUT (send no more requests), ENDED (no more requests are answered) */
    GYRE_PARCEL_SHUT,
    GYRE_PARCEL_ENDED,
    /* in place of an attachment: the client asks for a kernel's state, the server sends it in several packets */
    GYRE_PARCEL_STATE,
    /* the same: the client subscribes to a topic, the server answers once, then sends messages, and ENDED */
    GYRE_PARCEL_SUBSCRIBE,
    GYRE_PARCEL_PUBLISHED,
    /* the same: the server's own user, or root, asks for a swap or a move of a kernel, and the server answers when it is done */
    GYRE_PARCEL_CHANGE,
    GYRE_PARCEL_SPREAD, /* on which devices a kernel is, and which messages go where */
};

struct gyre_parcel {
    unsigned char *bytes; /* GYRE_PARCEL_MAX bytes */
    size_t length, at;    /* length of the message; where the next value is read */
    bool broken;          /* a value did not fit, was not there or made no sense */
    bool starved;         /* broken because this process had no memory: nothing is wrong with the message */
    int descriptors
        [GYRE_PARCEL_DESCRIPTORS_MAX]; /* of a received message: the parcel owns and closes them until taken */
    uint32_t descriptor_count;
};

/** Allocates the message's bytes. EXHAUSTED without memory. */
gyre_status gyre_parcel_init(struct gyre_parcel *parcel);
/** Frees the bytes, and closes received descriptors that were not taken. */
void gyre_parcel_finish(struct gyre_parcel *parcel);

/** Starts a new message: forgets the old contents, and closes descriptors that were not taken. */
void gyre_parcel_begin(struct gyre_parcel *parcel, enum gyre_parcel_operation operation, gyre_status status);
enum gyre_parcel_operation gyre_parcel_operation(const struct gyre_parcel *parcel);
gyre_status gyre_parcel_status(const struct gyre_parcel *parcel);

void gyre_parcel_put(struct gyre_parcel *parcel, const void *bytes, size_t size);
void gyre_parcel_put_u64(struct gyre_parcel *parcel, uint64_t value);
/** Writes a text. NULL is written as NULL, which is not the same as "". */
void gyre_parcel_put_text(struct gyre_parcel *parcel, const char *text);
/** Lends a descriptor to the message that is sent next. */
void gyre_parcel_put_descriptor(struct gyre_parcel *parcel, int descriptor);

/** Reads bytes. When the message has fewer bytes left: zeros, and the message is broken. */
void gyre_parcel_get(struct gyre_parcel *parcel, void *bytes, size_t size);
uint64_t gyre_parcel_get_u64(struct gyre_parcel *parcel);
/** Reads a number. When it is larger than `most`: 0, and the message is broken. */
uint32_t gyre_parcel_get_u32(struct gyre_parcel *parcel, uint32_t most);
/**
 * Reads a text. NULL when NULL was written; "" when the message is broken. The text lies in the message, and is valid
 * until the message is used again.
 */
const char *gyre_parcel_get_text(struct gyre_parcel *parcel);
/** Takes the next descriptor that came with the message; the caller closes it. When there is none: -1, and broken. */
int gyre_parcel_take_descriptor(struct gyre_parcel *parcel);
/**
 * Closes a descriptor that another process sent. Does not wait: a TCP socket whose sender asked for it (SO_LINGER)
 * would keep this thread in close() until its bytes have arrived somewhere.
 */
void gyre_parcel_close_received(int descriptor);
/** Whether all values of the message were read and made sense. */
bool gyre_parcel_whole(const struct gyre_parcel *parcel);
/** Makes the error for a message that is not whole: `status` with the sentence, or EXHAUSTED when memory was short. */
gyre_status gyre_parcel_refuse(const struct gyre_parcel *parcel, gyre_status status, const char *sentence);

/**
 * Sends the message. LOST when the other end is gone, TIMEOUT at the deadline (nothing was sent then),
 * INVALID for a broken message: it is longer than a message may be. A call that finds no memory in Linux tries again
 * for some 20 milliseconds, also behind its deadline.
 */
gyre_status gyre_parcel_send(struct gyre_parcel *parcel, int socket, uint64_t deadline_ns);
/**
 * Receives a message. LOST when the other end is gone, TIMEOUT at the deadline. INTERNAL for a packet that is no
 * message of this version, or brings more descriptors than a message may. EXHAUSTED when this process may not open
 * the descriptors. All descriptors of a refused message are closed. Tries again without memory, as a send does.
 */
gyre_status gyre_parcel_receive(struct gyre_parcel *parcel, int socket, uint64_t deadline_ns);

#endif
