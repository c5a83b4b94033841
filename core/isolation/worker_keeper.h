/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper of a worker: a thread that starts the worker process, hears its log, notices its death and reaps it
 * (keeper_thread.c).
 *
 * The keeper's thread starts the process, and lives as long as the worker may: the system ends a child whose starting
 * thread ended (PR_SET_PDEATHSIG), so a worker never outlives the program. The thread reaps a dead worker before it
 * tells anybody: from then on the worker cannot write into shared memory. Then the thread calls `lost`, which may
 * start another worker.
 *
 * Beside the worker there may be a spare (spare.h): a second process, started on request, which becomes the worker
 * after the worker died. The caller that asked for the spare decides what the spare does meanwhile.
 */
#ifndef GYRE_CORE_ISOLATION_WORKER_KEEPER_H
#define GYRE_CORE_ISOLATION_WORKER_KEEPER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/isolation/spawn.h"
#include "core/parcel/parcel.h"

enum { GYRE_KEEPER_REASON_SIZE = 160 };

struct gyre_keeper_desc {
    void *context;
    /** Called in the keeper's thread when the worker has died and was reaped. */
    void (*lost)(void *context);
    /** Called in the keeper's thread with a message that the worker sent without being asked. */
    void (*heard)(void *context, struct gyre_parcel *message);
    /** Called in the keeper's thread when a requested spare is there (`there`), is gone, or could not be started. */
    void (*spare)(void *context, bool there, const char *why);
};

struct gyre_keeper {
    struct gyre_keeper_desc desc;
    pthread_t thread;
    struct gyre_parcel parcel; /* used by the thread alone */
    int bell;                  /* eventfd: rung when the thread has to look at `quit` or `spare_wanted` */
    int program;               /* what all its workers are started from (gyre_worker_hold_program) */

    pthread_mutex_t lock; /* for the members below */
    pthread_cond_t changed;
    bool alive, tried, quit, guarded;
    gyre_status start_status; /* the result of the first start */
    char start_words[512];
    pid_t pid;
    int pidfd, socket;                /* -1 while there is none */
    uint64_t number;                  /* the number of the worker's mark (guard.h) */
    uint64_t incarnation;             /* grows with every start; 0 before the first */
    struct gyre_worker_process spare; /* pid is 0 while there is none */
    bool spare_wanted;
    char reason[GYRE_KEEPER_REASON_SIZE]; /* why the last worker died */
};

#endif
