/* SPDX-License-Identifier: Apache-2.0 */
/* A worker process from its start to its end, as its keeper sees it. Threads: any, except where one is named. */
#ifndef GYRE_CORE_ISOLATION_WORKER_PROCESS_H
#define GYRE_CORE_ISOLATION_WORKER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/isolation/spawn.h"
#include "core/parcel/parcel.h"

/**
 * Starts a worker, which has a mark of its own (guard.h). `stands_by`: it shows so in the list of processes, until
 * GYRE_PARCEL_PROMOTE.
 */
gyre_status gyre_worker_start(bool stands_by, struct gyre_worker_process *out);
/** Sends a new connection to a worker over its socket: this end in *socket. */
gyre_status gyre_worker_connect(int worker, int *socket);
/** Hands each message that a worker sent by itself to `heard`; does not wait. False: the worker closed its end. */
bool gyre_worker_hear(int worker, struct gyre_parcel *parcel,
                      void (*heard)(void *context, struct gyre_parcel *message), void *context);
/** How a process ended, in words. `known`: its status was to be had. */
void gyre_worker_explain(int wait_status, bool known, char *text, size_t size);

#endif
