/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls a device's worker: sends an operation over a connection and receives the answer (proxy_calls.c). Threads:
 * any. Private to this folder.
 */
#ifndef GYRE_CORE_ISOLATION_PROXY_CALLS_H
#define GYRE_CORE_ISOLATION_PROXY_CALLS_H

#include "core/isolation/proxy_device.h"

/** One operation: how its arguments are written, and its results read. */
struct proxy_call {
    enum gyre_parcel_operation operation;
    void (*put)(struct gyre_parcel *parcel, void *argument);
    gyre_status (*get)(struct gyre_parcel *parcel, void *argument); /* NULL: no results */
    /* the time that a worker has for the operation; 0: until the deadline, else the device's timeout */
    uint64_t limit_ns;
    uint64_t deadline_ns; /* a worker has at least until this time; 0: no deadline */
    /** 0: calls the worker that is up, and after its death the next worker. Else calls only the worker with this
        number; when that worker is not up, the call is LOST. */
    uint64_t incarnation;
};

/** Calls the worker. Returns its answer, with its sentence; LOST when there is no worker any more. */
gyre_status proxy_call(gyre_device *device, const struct proxy_call *call, void *argument);
/** Calls the worker once, for a caller that has called proxy_enter. LOST also when the worker died during the call. */
gyre_status proxy_call_once(gyre_device *device, const struct proxy_call *call, void *argument);
/**
 * Enters: waits while the worker is being replaced, and keeps it from being replaced until proxy_leave. LOST when
 * nobody replaces a dead worker. A caller that wants a certain worker (`incarnation` not 0) never waits, and gets
 * LOST when that worker is not up. The keeper's thread, which replaces the worker, never waits.
 */
gyre_status proxy_enter(gyre_device *device, uint64_t incarnation);
void proxy_leave(gyre_device *device);
/** Sends the call and receives its answer. *broken: the connection cannot be used again. */
gyre_status proxy_exchange(gyre_device *device, const struct proxy_call *call,
                           struct proxy_connection *connection, void *argument, bool *broken);
/**
 * Whether an operation may be tried with the next worker. `tries` workers have died during the operation since
 * begun_ns. The keeper's thread tries once: it has to bring the next worker back itself.
 */
bool proxy_may_try(const gyre_device *device, int tries, uint64_t begun_ns);
/** Makes a connection without a socket, for the caller to close with proxy_connection_close. EXHAUSTED. */
gyre_status proxy_connection_create(struct proxy_connection **out);
void proxy_connection_close(struct proxy_connection *connection);
/** The number of the worker that is up, or that was up last. */
uint64_t proxy_incarnation(gyre_device *device);
/** Closes all idle connections. Under the lock. */
void proxy_drop_connections(gyre_device *device);

#endif
