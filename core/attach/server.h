/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structs of a server and of its sessions (a client's connection and its thread). server.c starts and ends the
 * server and lets clients in, session.c serves one client, arrivals.c counts connections, relay.c copies messages
 * of queues that keep their requests.
 */
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
    bool in_trouble;     /* the door thread's: no client could be let in, and the log told so */
    bool is_crowded;     /* the door thread's: a silent client had to make room, and the log told so */
    uint32_t user;       /* whose server it is */
    bool open_to_others; /* other users may connect */

    pthread_mutex_t lock;
    pthread_cond_t left;
    uint32_t inside, attached; /* all connections; connections with a queue or about to get one */
    uint32_t readers;          /* copies of kernels' states that are being sent to programs */
    uint64_t admitted, refused;
    uint32_t turned_out; /* connections inside that were hung up to make room and are not gone yet */
    struct gyre_session *first_silent, *last_silent; /* sessions without a packet yet, the oldest first */
    struct gyre_attach_user *users;                  /* the users who have connections (arrivals.c) */
    struct gyre_refusals refusals;                   /* the refusals that the log told */

    pthread_mutex_t relay_lock; /* taken before `lock` by a thread that needs both */
    struct gyre_relay *relays;  /* relay.h */
};

struct gyre_relay_ring;

/** A client's connection. Its thread alone uses it, except the members that are under server->lock. */
struct gyre_session {
    struct gyre_server *server;
    int socket, doorbell; /* doorbell: eventfd that the client writes; -1 before it has a queue */
    uint32_t process, user;
    char client[GYRE_CLIENT_NAME_MAX]; /* the client's name as it told; empty: it has told none */
    struct gyre_attach_user *of;       /* this and the next three: under server->lock */
    struct gyre_session *arrived_before, *arrived_after; /* among the silent ones */
    bool silent, turned_out;
    bool counted;        /* in server->attached */
    bool gone;           /* the kernel that the client asked for is lost for good */
    gyre_kernel *kernel; /* visited: it is not freed before the session leaves it */
    gyre_queue *queue;
    struct gyre_relay_ring *ring;      /* the relay's ring of `queue`; NULL: `queue` is the kernel's own */
    struct gyre_queue_options options; /* the options that `queue` was made with */
};

/**
 * Has the session visit the kernel of that name, so that the kernel is not freed meanwhile. NOT_FOUND.
 * session_kernel.c
 */
gyre_status gyre_session_visit(struct gyre_session *session, const char *kernel);
/**
 * Visits the kernel of the request's name, which is KERNEL or KERNEL/QUEUE; the slash is replaced by a NUL. *section:
 * QUEUE, else KERNEL. NOT_FOUND where the server has no such kernel or no section of that queue; INVALID where the
 * client asks for more slots than the server allows. session_kernel.c
 */
gyre_status gyre_session_find_kernel(struct gyre_session *session, struct gyre_attach_request *request,
                                     const char **section);
/**
 * Answers a program that asks for a copy of a kernel's state: sends the copy or a refusal. Gives up when the program
 * takes no packet in time. state_told.c
 */
void gyre_session_tell_state(struct gyre_session *session, struct gyre_parcel *parcel);

/**
 * The thread of a session, from the client's first packet to its end. It owns and frees the session (`argument`), and
 * counts it out of server->inside.
 */
void *gyre_session_main(void *argument);

#endif
