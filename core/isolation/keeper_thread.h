/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper of a worker process (worker_keeper.h): its thread, and what other threads ask it for. */
#ifndef GYRE_CORE_ISOLATION_KEEPER_THREAD_H
#define GYRE_CORE_ISOLATION_KEEPER_THREAD_H

#include "core/isolation/worker_keeper.h"

/** Starts the thread and the first worker. UNAVAILABLE when the program is not there, EXHAUSTED, FAILED. */
gyre_status gyre_keeper_init(struct gyre_keeper *keeper, const struct gyre_keeper_desc *desc);

/** Ends the worker and the thread. Not from the keeper's thread. */
void gyre_keeper_finish(struct gyre_keeper *keeper);

/**
 * Kills the worker of that incarnation (0: the present worker). `reason` becomes the reason of its death. NULL: the
 * worker seems to be dying by itself, and the way it ended becomes the reason.
 */
void gyre_keeper_kill(struct gyre_keeper *keeper, uint64_t incarnation, const char *reason);

/** Makes a connection to the worker; *socket is the caller's end of it. LOST when there is no worker. */
gyre_status gyre_keeper_connect(struct gyre_keeper *keeper, int *socket, uint64_t *incarnation);

/** Copies why the last worker died. */
void gyre_keeper_reason(struct gyre_keeper *keeper, char *text, size_t size);

/** Whether the caller is the keeper's thread. */
bool gyre_keeper_is_self(const struct gyre_keeper *keeper);

/* The functions below may be called in the keeper's thread only. */

/** Starts a worker, when there is none. */
gyre_status gyre_keeper_start(struct gyre_keeper *keeper);

/** When there is no worker: makes the spare the worker. False: there is no living spare. */
bool gyre_keeper_adopt(struct gyre_keeper *keeper);

/**
 * Hears the worker until the deadline, until another thread finishes the keeper, or until the worker dies. Reaps a
 * worker that died. False: there is no living worker any more, or the keeper ends.
 */
bool gyre_keeper_watch(struct gyre_keeper *keeper, uint64_t deadline_ns);

/** Kills the worker, if there is one, and reaps it. */
void gyre_keeper_end(struct gyre_keeper *keeper);

/** Waits for length_ns, while there is no worker. False: another thread finishes the keeper. */
bool gyre_keeper_pause(struct gyre_keeper *keeper, uint64_t length_ns);

/** Whether another thread finishes the keeper. */
bool gyre_keeper_quits(struct gyre_keeper *keeper);

#endif
