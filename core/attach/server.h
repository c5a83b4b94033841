/* SPDX-License-Identifier: Apache-2.0 */
/* A server, shared by server.c (who comes in, and the end) and session.c (one client's stay). */
#ifndef GYRE_CORE_ATTACH_SERVER_H
#define GYRE_CORE_ATTACH_SERVER_H

#include <pthread.h>
#include <stdbool.h>

#include "core/attach/meeting.h"
#include "core/attach/refusals.h"
#include "core/device/runtime.h"

struct gyre_server {
    struct gyre_runtime_guest guest; /* first: the runtime ends it where its owner did not */
    gyre_runtime *runtime;
    char path[GYRE_PLACE_MAX];
    uint32_t clients_max;
    uint64_t capacity_max;
    bool trusted; /* clients' messages are handled in place */
    int listener;
    int over; /* eventfd, never read: readable from the moment on that everybody is to leave */
    pthread_t door;
    bool in_trouble;     /* the door's: nobody could be let in, and that was told */
    bool is_crowded;     /* the door's: somebody silent had to make room, and that was told */
    uint32_t user;       /* whose server it is */
    bool open_to_others; /* other users may connect */

    pthread_mutex_t lock;
    pthread_cond_t left;
    uint32_t inside, attached; /* connections; of these, with a queue or about to get one */
    uint32_t readers;          /* copies of states that are being told */
    uint64_t admitted, refused;
    uint32_t turned_out; /* of those inside: hung up to make room, and not gone yet */
    struct gyre_session *first_silent, *last_silent; /* that have said nothing yet, by age */
    struct gyre_attach_user *users;                  /* who have connections (arrivals.c) */
    struct gyre_refusals refusals;                   /* that were logged */

    pthread_mutex_t relay_lock; /* outside the one above */
    struct gyre_relay *relays;  /* relay.h */
};

struct gyre_relay_ring;

/** A client's connection; its thread's own. */
struct gyre_session {
    struct gyre_server *server;
    int socket, doorbell; /* doorbell: eventfd that the client writes; -1 before it has a queue */
    uint32_t process, user;
    char client[GYRE_CLIENT_NAME_MAX]; /* as it says; empty: it has no name, or did not say anything yet */
    struct gyre_attach_user *of;       /* this and the next three: under server->lock */
    struct gyre_session *arrived_before, *arrived_after; /* among the silent ones */
    bool silent, turned_out;
    bool counted;        /* in server->attached */
    bool gone;           /* the kernel that it asked for is lost for good */
    gyre_kernel *kernel; /* visited */
    gyre_queue *queue;
    struct gyre_relay_ring *ring;      /* whose queue it is; NULL: it is the kernel's own */
    struct gyre_queue_options options; /* how it was made */
};

/** Has the session visit the kernel of that name. NOT_FOUND. session_kernel.c */
gyre_status gyre_session_visit(struct gyre_session *session, const char *kernel);
/**
 * Visits the kernel of the request's name, which is KERNEL or KERNEL/QUEUE; the slash is replaced by a NUL. *section: QUEUE, else
 * KERNEL. NOT_FOUND where the server has no such kernel or no section of that queue; INVALID where the client asks for more slots than
 * the server allows. session_kernel.c
 */
gyre_status gyre_session_find_kernel(struct gyre_session *session, struct gyre_attach_request *request,
                                     const char **section);
/** The program asked for what a kernel keeps: tells it, or why not, until it does not listen. state_told.c */
void gyre_session_tell_state(struct gyre_session *session, struct gyre_parcel *parcel);

/** The thread of a session (`argument`), which it owns: from the meeting to the end.
 * Counts itself out of server->inside. */
void *gyre_session_main(void *argument);

#endif
