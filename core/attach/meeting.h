/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client and a server say to each other when they meet, and where. Packets as in
 * core/parcel/parcel.h.
 *
 * The client asks once (ATTACH: a name, its wishes, its types). The server answers with everything that both
 * need to see the same queue in the same memory, and three descriptors: the queue's region; the kernel's
 * control region, to be read only; an eventfd that rings the kernel's doorbell. Then the client says nothing
 * more; its end of the connection closes when it leaves. The server says SHUT (send no more) and ENDED
 * (nothing will be answered any more; what is unanswered is unhandled).
 *
 * Or the program asks for a copy of what a kernel keeps (STATE: its name), is told its type and size, and then its bytes,
 * so many a packet, and the connection is closed.
 */
#ifndef GYRE_CORE_ATTACH_MEETING_H
#define GYRE_CORE_ATTACH_MEETING_H

#include "core/parcel/records.h"
#include "core/parcel/parcel.h"
#include "core/ring/options.h"
#include "gyre/attach.h"

enum { GYRE_MEETING_NAME_MAX = 128, GYRE_CLIENT_NAME_MAX = 64 };

/**
 * What a client may want of a server besides a queue, and a server has: bits, none so far. Both say theirs, so
 * that what comes later (topics, whose messages a server sends by itself) needs no other packet. A server refuses
 * a client that wants what it does not have; a client that hears of a bit that it does not know makes no use of it.
 */
#define GYRE_MEETING_FEATURES UINT64_C(0)

/** What a client asks for. */
struct gyre_attach_request {
    char name[GYRE_MEETING_NAME_MAX];  /* KERNEL or KERNEL/QUEUE */
    char client[GYRE_CLIENT_NAME_MAX]; /* empty: it has no name */
    uint64_t wants;                    /* features, of which the server has all */
    uint64_t answered;    /* its requests below were answered, and told durable; 0: it says nothing */
    gyre_queue_desc desc; /* `name` is NULL; types are kept by `types` */
    struct gyre_kept_block *types;
};

/** `answered`: of gyre_attach_request. */
void gyre_attach_request_put(struct gyre_parcel *parcel, const char *name, const gyre_attach_desc *desc,
                             uint64_t answered);
/**
 * INVALID for what makes no sense, UNIMPLEMENTED for features that this side does not have, EXHAUSTED. The caller
 * releases out->types in any case.
 */
gyre_status gyre_attach_request_get(struct gyre_parcel *parcel, struct gyre_attach_request *out);

/** What a client is given. */
struct gyre_attach_answer {
    struct gyre_queue_options options; /* without what points somewhere: that is the client's to fill in */
    uint64_t has;                      /* features */
    uint64_t control_size;
    const gyre_type *request, *reply;
    struct gyre_kept_block *types;
};

void gyre_attach_answer_put(struct gyre_parcel *parcel, const struct gyre_attach_answer *answer);
/** INTERNAL for what makes no sense, EXHAUSTED. The caller releases out->types in any case. */
gyre_status gyre_attach_answer_get(struct gyre_parcel *parcel, struct gyre_attach_answer *out);

/** What a client is told in place of an answer; the packet's status is never OK. */
struct gyre_attach_refusal {
    const char *why; /* valid as long as the packet is; never empty */
    bool for_good;   /* no later attempt at this server ends otherwise: the kernel is lost, and stays so */
};

void gyre_attach_refusal_put(struct gyre_parcel *parcel, gyre_status status,
                             const struct gyre_attach_refusal *refusal);
struct gyre_attach_refusal gyre_attach_refusal_get(struct gyre_parcel *parcel);

/* ---- the state of a kernel ---- */

enum {
    GYRE_STATE_PIECE = 64 * 1024
}; /* bytes of a state that one packet brings; the last one, what is left */

void gyre_state_request_put(struct gyre_parcel *parcel, const char *kernel);
/** INVALID for what makes no sense. */
gyre_status gyre_state_request_get(struct gyre_parcel *parcel, char kernel[GYRE_MEETING_NAME_MAX]);
void gyre_state_answer_put(struct gyre_parcel *parcel, const gyre_type *type);
/** INTERNAL for what makes no sense, EXHAUSTED. The caller releases *types in any case. */
gyre_status gyre_state_answer_get(struct gyre_parcel *parcel, const gyre_type **out,
                                  struct gyre_kept_block **types);

/* ---- the place ---- */

enum { GYRE_PLACE_MAX = 108 }; /* bytes of a socket's path */

/**
 * Fills in where a server is found: `given`, or, when that is NULL or empty, gyre.sock in XDG_RUNTIME_DIR,
 * else in /tmp/gyre-UID, which must be a folder of this user's alone. `make`: makes that folder. INVALID for
 * a path that is too long for a socket, UNAVAILABLE for a folder that somebody else could have made.
 */
gyre_status gyre_place_find(const char *given, bool make, char path[GYRE_PLACE_MAX]);
/**
 * Whether a server could listen there, as far as that can be seen without making anything; `given` as for
 * gyre_place_find. What a server would be refused with, else.
 */
gyre_status gyre_place_could_serve(const char *given);
/** A socket that is not connected. EXHAUSTED; -1 then. Owner of *out: the caller, close(). */
gyre_status gyre_place_socket(int *out);
/** Connects it. UNAVAILABLE when nobody listens there, TIMEOUT when its server takes nobody in. */
gyre_status gyre_place_connect(const char *path, uint64_t deadline_ns, int socket);
/** Whether nobody listens on the socket any more, as far as that can be seen: its server died. */
bool gyre_place_is_dead(const char *path);
/** Removes such a socket; false, with errno, when it is there still. */
bool gyre_place_remove_dead(const char *path);
/** Listens, in place of a dead server, with that file mode. INVALID when a living one is there, which one
 * that dies is for a moment: it is waited out. */
gyre_status gyre_place_listen(const char *path, uint32_t mode, int *out);
/** Closes that listener and removes its socket; one that somebody else put there meanwhile stays. */
void gyre_place_leave(const char *path, int listener);

#endif
