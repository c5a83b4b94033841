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

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/isolation/spawn.h"
#include "core/parcel/parcel.h"

enum { GYRE_KEEPER_REASON_SIZE = 160 };

struct gyre_keeper_desc {
    void *context;
    /** In the keeper's thread: the worker has died and was reaped. */
    void (*lost)(void *context);
    /** In the keeper's thread: a message that the worker sent by itself. */
    void (*heard)(void *context, struct gyre_parcel *message);
    /** In the keeper's thread: the spare that was asked for is there; or it is gone, or could not be started. */
    void (*spare)(void *context, bool there, const char *why);
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

#endif
