/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker process and the thread that keeps it: starts it, hears its log, notices its death, reaps it.
 *
 * The process is always started by the keeper's thread, which lives as long as the worker may: the kernel
 * ends a child whose starting thread ended (PR_SET_PDEATHSIG), so a worker never outlives the program. When
 * it dies, it is reaped before anybody is told: from then on nothing of it can write into shared memory. Then
 * the keeper's thread calls `lost`, which may start another one.
 *
 * Beside it there may be a spare: a second process, started when it was asked for, that takes the worker's
 * place when there is none (spare.c). What is done with it meanwhile is up to whoever asked for it.
 */
#ifndef GYRE_CORE_ISOLATION_KEEPER_H
#define GYRE_CORE_ISOLATION_KEEPER_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/parcel/parcel.h"

/** The program, in gyre_place_helpers(). */
#define GYRE_WORKER_PROGRAM "gyre-worker"
/** How one that stands by shows in the list of processes. */
#define GYRE_STANDBY_NAME "gyre-standby"
/** Its exit code when the device died and the process lives on. */
enum { GYRE_WORKER_DEVICE_DIED = 71 };
/** Where the worker finds its socket. */
enum { GYRE_WORKER_SOCKET = 3, GYRE_KEEPER_REASON_SIZE = 160 };

struct gyre_keeper_desc {
    void *context;
    /** In the keeper's thread: the worker has died and was reaped. */
    void (*lost)(void *context);
    /** In the keeper's thread: a message that the worker sent by itself. */
    void (*heard)(void *context, struct gyre_parcel *message);
    /** In the keeper's thread: the spare that was asked for is there; or it is gone, or could not be started. */
    void (*spare)(void *context, bool there, const char *why);
};

/** A worker process as it is started. */
struct gyre_worker_process {
    pid_t pid;
    int pidfd, socket; /* -1: none, or a system without pidfd */
    uint64_t number;   /* of its mark (guard.h) */
};

struct gyre_keeper {
    struct gyre_keeper_desc desc;
    pthread_t thread;
    struct gyre_parcel parcel; /* of the thread */
    int bell;                  /* eventfd: somebody wants something of the thread */

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    bool alive, tried, quit, guarded;
    gyre_status start_status; /* of the first start */
    char start_words[512];
    pid_t pid;
    int pidfd, socket;                /* -1 while there is none */
    uint64_t number;                  /* of its mark (guard.h) */
    uint64_t incarnation;             /* grows with every start; 0 before the first */
    struct gyre_worker_process spare; /* pid is 0 while there is none */
    bool spare_wanted;
    char reason[GYRE_KEEPER_REASON_SIZE]; /* why the last one died */
};

/** Starts the thread and the first worker. UNAVAILABLE when the program is not there, EXHAUSTED, FAILED. */
gyre_status gyre_keeper_init(struct gyre_keeper *keeper, const struct gyre_keeper_desc *desc);
/** Ends the worker and the thread. Not from the keeper's thread. */
void gyre_keeper_finish(struct gyre_keeper *keeper);

/**
 * Kills the worker of that incarnation (0: whichever there is). `reason` becomes the reason of its death;
 * NULL: it seems to be dying by itself, and how it ended is the reason.
 */
void gyre_keeper_kill(struct gyre_keeper *keeper, uint64_t incarnation, const char *reason);
/** Makes a connection to the worker: this end in *socket. LOST when there is none. */
gyre_status gyre_keeper_connect(struct gyre_keeper *keeper, int *socket, uint64_t *incarnation);
/** Copies why the last worker died. */
void gyre_keeper_reason(struct gyre_keeper *keeper, char *text, size_t size);
bool gyre_keeper_is_self(const struct gyre_keeper *keeper);

/* spare.c: from any thread. */

/** Asks for a spare. There is none, or it is on its way out. */
void gyre_keeper_want_spare(struct gyre_keeper *keeper);
/** As gyre_keeper_connect, to the spare. */
gyre_status gyre_keeper_connect_spare(struct gyre_keeper *keeper, int *socket);
void gyre_keeper_kill_spare(struct gyre_keeper *keeper);

/* In the keeper's thread only. */

/** Starts a worker; there is none. */
gyre_status gyre_keeper_start(struct gyre_keeper *keeper);
/** The spare, if there is one and it lives, is the worker now; there was none. */
bool gyre_keeper_adopt(struct gyre_keeper *keeper);
/**
 * Hears what the worker has to say until the deadline, until somebody finishes the keeper, or until the
 * worker dies, whose end this then is (reaped). False: there is no living worker any more, or the keeper is
 * to end.
 */
bool gyre_keeper_watch(struct gyre_keeper *keeper, uint64_t deadline_ns);
/** Kills the worker, if there is one, and takes its remains away. */
void gyre_keeper_end(struct gyre_keeper *keeper);
/** Waits so long without a worker; false: somebody wants the keeper to end. */
bool gyre_keeper_pause(struct gyre_keeper *keeper, uint64_t length_ns);
/** Somebody wants the keeper to end. */
bool gyre_keeper_quits(struct gyre_keeper *keeper);

/* Shared by keeper.c and spare.c. */

/** Hands on what a worker sent by itself. False: it closed its end. */
bool gyre_keeper_hear(struct gyre_keeper *keeper, int socket);
/** Sends a new connection to a worker over its socket: this end in *socket. */
gyre_status gyre_worker_connect(int worker, int *socket);
/** How a process ended, in words. `known`: its status was to be had. */
void gyre_worker_explain(int wait_status, bool known, char *text, size_t size);
/** After poll: what became of the spare, its pidfd and its socket; starts one that is wanted. */
void gyre_spare_tend(struct gyre_keeper *keeper, const struct pollfd news[2]);
/** Ends the spare, if there is one. */
void gyre_spare_end(struct gyre_keeper *keeper);

/* spawn.c */

/**
 * Starts the worker program with one end of a socket as its GYRE_WORKER_SOCKET and nothing else inherited.
 * `stands_by`: it shows so in the list of processes, until GYRE_PARCEL_PROMOTE.
 */
gyre_status gyre_worker_start(bool stands_by, struct gyre_worker_process *out);
/** Starts it as the guard of this program, all whose marks begin so. For guard.c. */
gyre_status gyre_guard_start(const char *prefix, struct gyre_worker_process *out);

#endif
