/* SPDX-License-Identifier: Apache-2.0 */
/* A worker process from its start to its end, for its keeper. Threads: any; the thread that starts a worker outlives it. */
#ifndef GYRE_CORE_ISOLATION_WORKER_PROCESS_H
#define GYRE_CORE_ISOLATION_WORKER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/isolation/spawn.h"
#include "core/parcel/parcel.h"

/**
 * Starts a worker with a mark of its own (guard.h). `stands_by`: the list of processes shows that it stands by, until
 * GYRE_PARCEL_PROMOTE. `program` is of gyre_worker_hold_program, or -1. UNAVAILABLE when the program is not there, EXHAUSTED, FAILED.
 */
gyre_status gyre_worker_start(bool stands_by, int program, struct gyre_worker_process *out);
/** Sends a worker a new connection over its socket `worker`; *socket is the caller's end of the connection. */
gyre_status gyre_worker_connect(int worker, int *socket);
/** Hands each message that a worker sent by itself to `heard`. Does not wait. False: the worker closed its socket. */
bool gyre_worker_hear(int worker, struct gyre_parcel *parcel,
                      void (*heard)(void *context, struct gyre_parcel *message), void *context);
/** Writes how a process ended, in words. Not `known`: the program keeps its status from Gyre. */
void gyre_worker_explain(int wait_status, bool known, char *text, size_t size);

#endif
