/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets that a client and a server exchange (meeting.c), and the Unix socket at which they meet (place.c).
 * Packets have the form of core/parcel/parcel.h.
 *
 * The client asks once (ATTACH: a kernel's name, the client's wishes, its types). The server answers with everything
 * that both need to see the same queue in the same memory, and with three descriptors: the queue's region; the
 * kernel's control region, for reading only; an eventfd that rings the kernel's doorbell. After that the client sends
 * no packet; its end of the connection closes when it leaves. The server sends SHUT (the client may send no more
 * requests) and ENDED (no more requests will be answered; requests without an answer were not handled).
 *
 * Instead of ATTACH a program may ask for a copy of a kernel's state (STATE: the kernel's name). The server answers
 * with the type of the state, then with its bytes in packets of GYRE_STATE_PIECE, and closes the connection.
 *
 * Or for the devices of a kernel that is on several (SPREAD, spread_packets.h), which the server answers once.
 *
 * Or it may subscribe (SUBSCRIBE: the name of a topic, subscribe_packets.c). The server answers with the type of the messages,
 * sends them in packets PUBLISHED as they come, and a last packet ENDED. The program sends nothing more.
 */
#ifndef GYRE_CORE_ATTACH_MEETING_H
#define GYRE_CORE_ATTACH_MEETING_H

#include "core/parcel/parcel.h"
#include "core/parcel/records.h"
#include "core/ring/ring_options.h"
#include "gyre/attach.h"
#include "gyre/subscribe.h"

enum { GYRE_MEETING_NAME_MAX = 128, GYRE_CLIENT_NAME_MAX = 64, GYRE_MEETING_KEY_MAX = 128 };

/**
 * The features of this version, a bit each: none so far. The client's packet has the features that it wants, the
 * server's answer the features that it has, so that later features (for example topics) need no new packet. A server
 * refuses a client that wants a feature that the server lacks. A client ignores features that it does not know.
 */
#define GYRE_MEETING_FEATURES UINT64_C(0)

/** The contents of the packet ATTACH: what a client asks a server for. */
struct gyre_attach_request {
    char name[GYRE_MEETING_NAME_MAX];  /* KERNEL or KERNEL/QUEUE */
    char client[GYRE_CLIENT_NAME_MAX]; /* empty: the client has no name */
    uint32_t user;                     /* the client's user: not of the packet, the session fills it in */
    uint64_t wants;                    /* features that the server must have */
    uint64_t answered;    /* the client's requests below this index were answered and told durable; 0: none */
    gyre_queue_desc desc; /* `name` is NULL; `types` owns the memory of its types */
    struct gyre_kept_block *types;
};

/** Writes the packet ATTACH. `answered`: see gyre_attach_request. */
void gyre_attach_request_put(struct gyre_parcel *parcel, const char *name, const gyre_attach_desc *desc,
                             uint64_t answered);
/**
 * Reads the packet ATTACH. INVALID for a packet that makes no sense, UNIMPLEMENTED for features that this server does
 * not have, EXHAUSTED. The caller releases out->types in any case.
 */
gyre_status gyre_attach_request_get(struct gyre_parcel *parcel, struct gyre_attach_request *out);

/** The server's answer to a client that gets a queue. */
struct gyre_attach_answer {
    struct gyre_queue_options options; /* without pointers: the client fills these in */
    uint64_t has;                      /* the server's features */
    uint64_t control_size;
    const gyre_type *request, *reply;
    struct gyre_kept_block *types;
};

void gyre_attach_answer_put(struct gyre_parcel *parcel, const struct gyre_attach_answer *answer);
/**
 * Reads an answer. INCOMPATIBLE when the server is of another version of Gyre, INTERNAL for a packet that makes no
 * sense, EXHAUSTED. The caller releases out->types in any case.
 */
gyre_status gyre_attach_answer_get(struct gyre_parcel *parcel, struct gyre_attach_answer *out);

/** The server's refusal, which a client gets in place of an answer. The packet's status is never OK. */
struct gyre_attach_refusal {
    const char *why; /* valid as long as the packet is; never empty */
    bool for_good;   /* this server will refuse every later attempt too: the kernel is lost for good */
};

void gyre_attach_refusal_put(struct gyre_parcel *parcel, gyre_status status,
                             const struct gyre_attach_refusal *refusal);
struct gyre_attach_refusal gyre_attach_refusal_get(struct gyre_parcel *parcel);

/* ---- the state of a kernel ---- */

enum {
    GYRE_STATE_PIECE = 64 * 1024
}; /* bytes of a kernel's state that one packet brings; the last packet brings the rest */

/** A request for the state of a kernel, or of one key of a keyed actor. */
struct gyre_state_request {
    char kernel[GYRE_MEETING_NAME_MAX];
    bool of_key;
    char key[GYRE_MEETING_KEY_MAX]; /* of which key, as a text */
};
/** `key`: NULL: the state of the kernel. */
void gyre_state_request_put(struct gyre_parcel *parcel, const char *kernel, const char *key);
/** Reads a request for a state. INVALID for a packet that makes no sense. */
gyre_status gyre_state_request_get(struct gyre_parcel *parcel, struct gyre_state_request *request);
void gyre_state_answer_put(struct gyre_parcel *parcel, const gyre_type *type);
/**
 * Reads the state's type. INTERNAL for a packet that makes no sense, EXHAUSTED. The caller releases *types in any
 * case.
 */
gyre_status gyre_state_answer_get(struct gyre_parcel *parcel, const gyre_type **out,
                                  struct gyre_kept_block **types);

/** Makes the server's refusal of a state or a subscription, which the packet is, this program's error. */
gyre_status gyre_meeting_refused(struct gyre_parcel *parcel);

/* ---- subscriptions ---- */

/** What a program that subscribes asks a server for. */
struct gyre_subscribe_request {
    char name[GYRE_MEETING_NAME_MAX]; /* PIPELINE/TOPIC, or TOPIC */
    gyre_slow slow;                   /* not TAP */
    uint64_t capacity;                /* 0, or a power of two */
};

void gyre_subscribe_request_put(struct gyre_parcel *parcel, const struct gyre_subscribe_request *request);
/** INVALID for a packet that makes no sense. */
gyre_status gyre_subscribe_request_get(struct gyre_parcel *parcel, struct gyre_subscribe_request *out);
/** The answer: "PIPELINE/TOPIC" and the type of its messages. */
void gyre_subscribe_answer_put(struct gyre_parcel *parcel, const char *name, const gyre_type *type);
/** INTERNAL for a packet that makes no sense, EXHAUSTED. The caller releases *types in any case. */
gyre_status gyre_subscribe_answer_get(struct gyre_parcel *parcel, char name[GYRE_MEETING_NAME_MAX],
                                      const gyre_type **out, struct gyre_kept_block **types);

/** One message of a packet PUBLISHED, which has one message or several, one behind the other. */
struct gyre_published {
    uint64_t missed; /* messages that were missed since the one before */
    uint64_t length; /* its bytes follow */
};

void gyre_published_put(struct gyre_parcel *parcel, const struct gyre_published *published,
                        const void *message);
/** Reads what is before the bytes. False: it makes no sense, or is longer than `most`. */
bool gyre_published_get(struct gyre_parcel *parcel, uint64_t most, struct gyre_published *out);

/** How a subscription ended, from the server's point of view. */
struct gyre_publishing_end {
    const char *why; /* valid as long as the packet is */
    uint64_t missed; /* messages that were missed since the last one that was sent */
    bool is_cut;
};

void gyre_publishing_end_put(struct gyre_parcel *parcel, const struct gyre_publishing_end *end);
struct gyre_publishing_end gyre_publishing_end_get(struct gyre_parcel *parcel);

/* ---- the place ---- */

enum { GYRE_PLACE_MAX = 108 }; /* bytes of a socket's path */

/**
 * Fills in the path of a server's socket: `given`, unless that is NULL or empty; else gyre.sock in XDG_RUNTIME_DIR;
 * without that, gyre.sock in /tmp/gyre-UID, a folder that must belong to this user alone. `make`: makes this folder.
 * INVALID for a path that is too long for a socket, UNAVAILABLE for a folder that another user could have made.
 */
gyre_status gyre_place_find(const char *given, bool make, char path[GYRE_PLACE_MAX]);
/**
 * Whether a server could listen at the place of `given` (see gyre_place_find), as far as can be seen without making
 * anything. Returns OK, or the error that the server would get.
 */
gyre_status gyre_place_could_serve(const char *given);
/** Makes a socket that is not connected. EXHAUSTED: then *out is -1. Owner of *out: the caller, close(). */
gyre_status gyre_place_socket(int *out);
/** Connects the socket. UNAVAILABLE when no server listens at the path, TIMEOUT when the server lets no client in. */
gyre_status gyre_place_connect(const char *path, uint64_t deadline_ns, int socket);
/** Whether the server of the socket at `path` died: no process listens there any more, as far as can be seen. */
bool gyre_place_is_dead(const char *path);
/** Removes the socket of a server that died. False, with errno, when the socket is still there. */
bool gyre_place_remove_dead(const char *path);
/**
 * Listens at `path` with that file mode, and replaces the socket of a dead server. INVALID when a living server
 * listens there. Waits a moment first, because a server that is dying still seems to live.
 */
gyre_status gyre_place_listen(const char *path, uint32_t mode, int *out);
/** Closes the listener and removes its socket. A socket that another server put at `path` meanwhile stays. */
void gyre_place_leave(const char *path, int listener);

#endif
