/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a call of the worker (proxy_calls.h): takes a connection, sends a message, receives the answer, within a
 * deadline.
 *
 * Lock: device->lock for the state and the idle connections, never held across a call. Each call counts itself in
 * (device->calls), so that the worker is replaced only while no call is under way. All calls end when the worker
 * dies, because their connections close.
 */
#include "core/isolation/proxy_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/isolation/keeper_thread.h"
#include "gyre/waiting.h"

enum { TRIES_MAX = 20, SILENT_MAX = 4 };

static const char *operation_word(enum gyre_parcel_operation operation)
{
    static const char *const words[] = {"none",        "device_open",   "device_close", "compile",
                                        "module_load", "module_kernel", "queue_alloc",  "memory_alloc",
                                        "transfer",    "launch",        "wait",         "notify",
                                        "release",     "memory_copy",   "promote"};
    size_t index = (size_t)operation;
    return index < sizeof words / sizeof words[0] ? words[index] : "unknown";
}

/* ---- in and out ---- */

static gyre_status is_gone(gyre_device *device)
{
    char reason[GYRE_KEEPER_REASON_SIZE];
    gyre_keeper_reason(&device->keeper, reason, sizeof reason);
    return gyre_error_set(GYRE_LOST, "the worker process of backend '%s' died: %s", device->backend, reason);
}

gyre_status proxy_enter(gyre_device *device, uint64_t incarnation)
{
    if (gyre_keeper_is_self(&device->keeper))
        return GYRE_OK;
    pthread_mutex_lock(&device->lock);
    while (device->state == PROXY_DOWN && !incarnation)
        pthread_cond_wait(&device->changed, &device->lock);
    bool up = device->state == PROXY_UP && (!incarnation || incarnation == device->incarnation);
    device->calls += up;
    pthread_mutex_unlock(&device->lock);
    return up ? GYRE_OK : is_gone(device);
}

void proxy_leave(gyre_device *device)
{
    if (gyre_keeper_is_self(&device->keeper))
        return;
    pthread_mutex_lock(&device->lock);
    if (--device->calls == 0)
        pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

uint64_t proxy_incarnation(gyre_device *device)
{
    pthread_mutex_lock(&device->lock);
    uint64_t incarnation = device->incarnation;
    pthread_mutex_unlock(&device->lock);
    return incarnation;
}

/* Notes that the worker does not answer any more: from now on other callers wait for the next worker. */
static void mark_down(gyre_device *device, uint64_t incarnation, const char *reason)
{
    pthread_mutex_lock(&device->lock);
    if (device->state == PROXY_UP && device->incarnation == incarnation)
        device->state = PROXY_DOWN;
    pthread_mutex_unlock(&device->lock);
    gyre_keeper_kill(&device->keeper, incarnation, reason);
}

/* ---- connections ---- */

gyre_status proxy_connection_create(struct proxy_connection **out)
{
    struct proxy_connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to talk to a worker process");
    connection->socket = -1;
    gyre_status status = gyre_parcel_init(&connection->parcel);
    if (status != GYRE_OK) {
        free(connection);
        return status;
    }
    *out = connection;
    return GYRE_OK;
}

void proxy_connection_close(struct proxy_connection *connection)
{
    if (connection->socket >= 0)
        close(connection->socket);
    gyre_parcel_finish(&connection->parcel);
    free(connection);
}

void proxy_drop_connections(gyre_device *device)
{
    while (device->connections) {
        struct proxy_connection *connection = device->connections;
        device->connections = connection->next;
        proxy_connection_close(connection);
    }
}

static gyre_status make_connection(gyre_device *device, struct proxy_connection **out)
{
    struct proxy_connection *connection = NULL;
    gyre_status status = proxy_connection_create(&connection);
    if (status != GYRE_OK)
        return status;
    status = gyre_keeper_connect(&device->keeper, &connection->socket, &connection->incarnation);
    if (status != GYRE_OK) {
        proxy_connection_close(connection);
        if (status == GYRE_LOST)
            mark_down(device, proxy_incarnation(device), NULL);
        return status;
    }
    *out = connection;
    return GYRE_OK;
}

static gyre_status take_connection(gyre_device *device, struct proxy_connection **out)
{
    pthread_mutex_lock(&device->lock);
    struct proxy_connection *connection = device->connections;
    if (connection)
        device->connections = connection->next;
    pthread_mutex_unlock(&device->lock);
    if (!connection)
        return make_connection(device, out);
    *out = connection;
    return GYRE_OK;
}

static void give_connection(gyre_device *device, struct proxy_connection *connection)
{
    pthread_mutex_lock(&device->lock);
    connection->next = device->connections;
    device->connections = connection;
    pthread_mutex_unlock(&device->lock);
}

/* ---- calls ---- */

/* Reads the answer: the operation's results, or the worker's status and sentence. */
static gyre_status read_answer(const struct proxy_call *call, struct gyre_parcel *parcel, void *argument)
{
    gyre_status status = gyre_parcel_status(parcel);
    if (gyre_parcel_operation(parcel) != call->operation || status < GYRE_OK || status > GYRE_INTERNAL)
        return gyre_error_set(GYRE_INTERNAL, "a worker process answered '%s' with something else",
                              operation_word(call->operation));
    if (status != GYRE_OK) {
        const char *text = gyre_parcel_get_text(parcel);
        gyre_error_set(status, "%s", text ? text : "");
    }
    if (call->get && (status == GYRE_OK || call->operation == GYRE_PARCEL_COMPILE)) {
        gyre_status got = call->get(parcel, argument);
        status = status == GYRE_OK ? got : status;
    }
    if (status == GYRE_OK && !gyre_parcel_whole(parcel))
        return gyre_error_set(GYRE_INTERNAL, "a worker process answered '%s' with nonsense",
                              operation_word(call->operation));
    return status;
}

/*
 * The deadline of a call, counted from now on: before, the call may have waited for this worker longer than any
 * limit.
 */
static uint64_t deadline_of(const gyre_device *device, const struct proxy_call *call)
{
    uint64_t limit = call->limit_ns ? call->limit_ns : call->deadline_ns ? 0 : device->call_timeout_ns;
    uint64_t until = gyre_clock_ns() + limit;
    return until > call->deadline_ns ? until : call->deadline_ns;
}

gyre_status proxy_exchange(gyre_device *device, const struct proxy_call *call,
                           struct proxy_connection *connection, void *argument, bool *broken)
{
    struct gyre_parcel *parcel = &connection->parcel;
    uint64_t deadline_ns = deadline_of(device, call);
    gyre_parcel_begin(parcel, call->operation, GYRE_OK);
    if (call->put)
        call->put(parcel, argument);
    if (GYRE_FAULT_POINT(PROXY_SEND))
        shutdown(connection->socket, SHUT_RDWR);
    gyre_status status = gyre_parcel_send(parcel, connection->socket, deadline_ns);
    if (status == GYRE_OK && GYRE_FAULT_POINT(PROXY_ANSWER))
        shutdown(connection->socket, SHUT_RDWR);
    if (status == GYRE_OK)
        status = gyre_parcel_receive(parcel, connection->socket, deadline_ns);
    *broken = status != GYRE_OK && status != GYRE_INVALID;
    return status == GYRE_OK ? read_answer(call, parcel, argument) : status;
}

/* Gives the worker up after a broken connection: it died, or it did not answer in time and is killed for that. */
static gyre_status give_up(gyre_device *device, const struct proxy_call *call, uint64_t incarnation,
                           gyre_status status)
{
    char reason[GYRE_KEEPER_REASON_SIZE];
    snprintf(reason, sizeof reason, "it did not answer '%s' in time", operation_word(call->operation));
    mark_down(device, incarnation, status == GYRE_TIMEOUT ? reason : NULL);
    if (status == GYRE_TIMEOUT)
        return gyre_error_set(GYRE_LOST,
                              "the worker process of backend '%s' did not answer '%s' in time, and is ended "
                              "(backend.%s.worker_timeout_ms)",
                              device->backend, operation_word(call->operation), device->backend);
    if (status == GYRE_LOST)
        return gyre_error_set(GYRE_LOST, "the worker process of backend '%s' died during '%s'",
                              device->backend, operation_word(call->operation));
    return status;
}

gyre_status proxy_call_once(gyre_device *device, const struct proxy_call *call, void *argument)
{
    struct proxy_connection *connection = NULL;
    bool broken = false;
    gyre_status status = take_connection(device, &connection);
    if (status != GYRE_OK)
        return status;
    if (call->incarnation && call->incarnation != connection->incarnation) {
        give_connection(device, connection);
        return is_gone(device);
    }
    status = proxy_exchange(device, call, connection, argument, &broken);
    if (!broken) {
        give_connection(device, connection);
        return status;
    }
    status = give_up(device, call, connection->incarnation, status);
    proxy_connection_close(connection);
    return status;
}

/*
 * While the operation is under way, a request may end workers as often as poison_limit allows: these deaths do not
 * count against the operation. Workers that the operation itself kept from answering, until they were killed, count.
 */
bool proxy_may_try(const gyre_device *device, int tries, uint64_t begun_ns)
{
    if (gyre_keeper_is_self(&device->keeper))
        return tries == 0;
    return tries < SILENT_MAX ||
           (tries < TRIES_MAX && gyre_clock_ns() - begun_ns < SILENT_MAX * device->call_timeout_ns);
}

gyre_status proxy_call(gyre_device *device, const struct proxy_call *call, void *argument)
{
    gyre_status status = GYRE_LOST;
    uint64_t begun = gyre_clock_ns();
    bool again = call->incarnation == 0;
    for (int tries = 0; status == GYRE_LOST && (tries == 0 || (again && proxy_may_try(device, tries, begun)));
         tries++) {
        status = proxy_enter(device, call->incarnation);
        if (status != GYRE_OK)
            return status;
        status = proxy_call_once(device, call, argument);
        proxy_leave(device);
    }
    return status;
}
