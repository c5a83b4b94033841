/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structs of a server and of its sessions (a client's connection and its thread). server_life.c starts and ends the
 * server and lets clients in, session.c serves one client, arrivals.c counts connections, relay_run.c copies messages
 * of queues that keep their requests.
 */
#ifndef GYRE_CORE_ATTACH_SERVER_H
#define GYRE_CORE_ATTACH_SERVER_H

#include <pthread.h>
#include <stdbool.h>

#include "core/attach/meeting.h"
#include "core/device/runtime.h"

enum { GYRE_REFUSALS_MAX = 128 };

/** The last GYRE_REFUSALS_MAX refusals; an older refusal is told again. Under server->lock. */
struct gyre_refusals {
    struct gyre_refusal {
        uint64_t who, why; /* hashes of the client's text and the reason's text; 0: the entry is free */
    } told[GYRE_REFUSALS_MAX];
    uint32_t next;
};

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
    pthread_t ended; /* the thread of the connection that left last; has_ended: it is to be joined */
    bool has_ended;
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
    int rings;            /* epoll: readable once for each time that the client writes the doorbell; or -1 */
    uint32_t process, user;
    char client[GYRE_CLIENT_NAME_MAX]; /* the client's name as it told; empty: it has told none */
    struct gyre_attach_user *of;       /* this and the next three: under server->lock */
    struct gyre_session *arrived_before, *arrived_after; /* among the silent ones */
    bool silent, turned_out;
    bool counted;        /* in server->attached */
    bool gone;           /* the kernel that the client asked for is lost for good */
    gyre_kernel *kernel; /* visited: it is not freed before the session leaves it */
    struct gyre_pipeline
        *pipeline; /* visited: `queue` is an entry of it; NULL: `queue` is one of `kernel` alone */
    gyre_queue *queue;
    struct gyre_relay_ring *ring;      /* the relay's ring of `queue`; NULL: `queue` is the kernel's own */
    struct gyre_queue_options options; /* the options that `queue` was made with */
};

#endif
