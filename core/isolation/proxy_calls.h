/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the worker, and the connections that they take. Threads: any. Private to this folder. */
#ifndef GYRE_CORE_ISOLATION_PROXY_CALLS_H
#define GYRE_CORE_ISOLATION_PROXY_CALLS_H

#include "core/isolation/proxy_device.h"

/** One operation: how its arguments are written, and its results read. */
struct proxy_call {
    enum gyre_parcel_operation operation;
    void (*put)(struct gyre_parcel *parcel, void *argument);
    gyre_status (*get)(struct gyre_parcel *parcel, void *argument); /* NULL: there are no results */
    uint64_t limit_ns;    /* what each worker gets for it; 0: the device's timeout, or until the deadline */
    uint64_t deadline_ns; /* it gets until then in any case; 0: none */
    uint64_t
        incarnation; /* 0: whichever worker is up, and the next one when that dies; else this one or LOST */
};

/** Calls the worker. What it answers, with its sentence; LOST when there is no worker any more. */
gyre_status proxy_call(gyre_device *device, const struct proxy_call *call, void *argument);
/** The same once, by who has entered. LOST also when the worker died of it. */
gyre_status proxy_call_once(gyre_device *device, const struct proxy_call *call, void *argument);
/**
 * Waits while the worker is being replaced; it is not replaced until proxy_leave. LOST when nobody replaces
 * it. Whoever wants a certain worker (`incarnation` not 0) never waits and gets LOST when it is not up; nor
 * does the keeper's thread, which replaces it.
 */
gyre_status proxy_enter(gyre_device *device, uint64_t incarnation);
void proxy_leave(gyre_device *device);
/** Sends the call and receives its answer. *broken: the connection is of no more use. */
gyre_status proxy_exchange(gyre_device *device, const struct proxy_call *call,
                           struct proxy_connection *connection, void *argument, bool *broken);
/**
 * Whether an operation that `tries` workers died in the midst of, since begun_ns, is made with another one.
 */
bool proxy_may_try(const gyre_device *device, int tries, uint64_t begun_ns);
/** A connection that belongs to nobody; EXHAUSTED. Freed with proxy_connection_close, also unconnected. */
gyre_status proxy_connection_create(struct proxy_connection **out);
void proxy_connection_close(struct proxy_connection *connection);
/** The number of the worker that is up, or that was the last to be. */
uint64_t proxy_incarnation(gyre_device *device);
/** Closes all idle connections. Under the lock. */
void proxy_drop_connections(gyre_device *device);

#endif
