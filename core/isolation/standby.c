/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a standby worker ready and lets it take over (standby.h). The standby worker is the keeper's spare; a thread
 * of the device opens the device in it and loads every module of the device. Queues and buffers are made only when it
 * takes over: before, they would take memory twice, and would miss transfers. Calls of the standby worker have
 * deadlines, so it may be stopped, or die, at any moment. Then another standby worker follows.
 *
 * Lock: device->lock for everything here except the connection. The connection belongs to the standby thread while
 * the state is BUSY, and to the keeper's thread otherwise. The lock is not held during a call of a worker.
 */
#include "core/isolation/standby.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/isolation/keeper_thread.h"
#include "core/isolation/proxy_calls.h"
#include "core/isolation/proxy_module.h"
#include "core/isolation/proxy_objects.h"
#include "core/isolation/proxy_opening.h"
#include "core/isolation/spare.h"
#include "core/isolation/standby_state.h"
#include "gyre/waiting.h"

#define PROMOTE_NS UINT64_C(1000000000)

/* Under the lock: forgets the last standby worker, its connection and its modules. */
static void forget_standby(gyre_device *device)
{
    struct proxy_standby *standby = device->standby;
    if (standby->connection)
        proxy_connection_close(standby->connection);
    standby->connection = NULL;
    standby->module_count = 0;
}

/* ---- making it ready ---- */

static gyre_status connect_spare(gyre_device *device, struct proxy_connection **out)
{
    gyre_status status = proxy_connection_create(out);
    if (status == GYRE_OK)
        status = gyre_keeper_connect_spare(&device->keeper, &(*out)->socket);
    return status == GYRE_OK ? proxy_open_beside(device, *out) : status;
}

static bool standby_has(const struct proxy_standby *standby, uint64_t id)
{
    for (size_t i = 0; i < standby->module_count; i++)
        if (standby->modules[i] == id)
            return true;
    return false;
}

/* Under the lock: finds a module that the standby worker lacks. False: it lacks none. */
static bool find_missing(gyre_device *device, struct gyre_module *copy)
{
    const struct proxy_standby *standby = device->standby;
    if (standby->module_count == PROXY_STANDBY_MODULES_MAX)
        return false; /* further modules are loaded when it takes over */
    for (const struct proxy_object *object = device->objects; object; object = object->next)
        if (!standby_has(standby, object->id) && proxy_module_lend(object, copy))
            return true;
    return false;
}

/*
 * Opens the device in the standby worker and loads the modules that it lacks. Under the lock, which it gives up during
 * a call. The state is BUSY.
 */
static gyre_status catch_up(gyre_device *device)
{
    struct proxy_standby *standby = device->standby;
    struct gyre_module copy;
    gyre_status status = GYRE_OK;
    if (!standby->connection) {
        pthread_mutex_unlock(&device->lock);
        status = connect_spare(device, &standby->connection);
        pthread_mutex_lock(&device->lock);
    }
    while (status == GYRE_OK && !standby->quit && find_missing(device, &copy)) {
        pthread_mutex_unlock(&device->lock);
        status = proxy_module_load_again(device, &copy, standby->connection);
        proxy_module_give_back(&copy);
        pthread_mutex_lock(&device->lock);
        standby->modules[standby->module_count++] = copy.object.id;
    }
    return status;
}

/* Makes the standby worker ready, or gives it up. Under the lock, which it gives up meanwhile. */
static void prepare_standby(gyre_device *device)
{
    struct proxy_standby *standby = device->standby;
    standby->state = STANDBY_BUSY;
    gyre_status status = catch_up(device);
    bool lives = standby->state == STANDBY_BUSY; /* else its end was told meanwhile */
    if (lives && status == GYRE_OK) {
        standby->state = STANDBY_READY;
        standby->failures = 0;
    } else {
        bool worth_a_line = lives && !standby->quit && proxy_standby_note_failure(standby);
        standby->state = lives ? STANDBY_ENDING : STANDBY_NONE;
        forget_standby(device);
        pthread_mutex_unlock(&device->lock);
        if (lives)
            gyre_keeper_kill_spare(&device->keeper);
        if (worth_a_line)
            proxy_standby_tell(device, "cannot be made ready", gyre_error_cause());
        pthread_mutex_lock(&device->lock);
    }
    pthread_cond_broadcast(&device->changed);
}

/* ---- the thread ---- */

static void sleep_until(gyre_device *device, uint64_t time_ns)
{
    const struct timespec until = gyre_clock_timespec(time_ns);
    pthread_cond_timedwait(&device->changed, &device->lock, &until);
}

static void *stand_by(void *argument)
{
    gyre_device *device = argument;
    struct proxy_standby *standby = device->standby;
    pthread_mutex_lock(&device->lock);
    while (!standby->quit) {
        bool may_ask = standby->state == STANDBY_NONE && device->state == PROXY_UP;
        if (standby->state == STANDBY_BEHIND) {
            prepare_standby(device);
        } else if (may_ask && gyre_clock_ns() < standby->again_ns) {
            sleep_until(device, standby->again_ns);
        } else if (may_ask) {
            forget_standby(device);
            standby->state = STANDBY_ASKED;
            pthread_mutex_unlock(&device->lock);
            gyre_keeper_want_spare(&device->keeper);
            pthread_mutex_lock(&device->lock);
        } else {
            pthread_cond_wait(&device->changed, &device->lock);
        }
    }
    pthread_mutex_unlock(&device->lock);
    return NULL;
}

gyre_status proxy_standby_begin(gyre_device *device)
{
    struct proxy_standby *standby = calloc(1, sizeof *standby);
    if (!standby)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a standby worker");
    pthread_mutex_lock(&device->lock);
    device->standby = standby; /* the keeper's thread may be looking */
    gyre_status status = gyre_thread_need(&standby->thread, stand_by, device, "for a standby worker");
    if (status != GYRE_OK)
        device->standby = NULL;
    pthread_mutex_unlock(&device->lock);
    if (status != GYRE_OK)
        free(standby);
    return status;
}

void proxy_standby_finish(gyre_device *device)
{
    struct proxy_standby *standby = device->standby;
    if (!standby)
        return;
    pthread_mutex_lock(&device->lock);
    standby->quit = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    gyre_keeper_kill_spare(&device->keeper); /* a call that the standby worker does not answer ends with it */
    pthread_join(standby->thread, NULL);
}

void proxy_standby_free(gyre_device *device)
{
    if (!device->standby)
        return;
    forget_standby(device);
    free(device->standby);
}

/* ---- taking over ---- */

/* Tells the standby worker that it is the worker. False: it does not answer at once, so it is of no use. */
static bool promote_standby(gyre_device *device, struct proxy_connection *connection)
{
    const struct proxy_call call = {.operation = GYRE_PARCEL_PROMOTE,
                                    .deadline_ns = gyre_clock_ns() + PROMOTE_NS};
    bool broken = false;
    gyre_error_hold();
    bool answers = proxy_exchange(device, &call, connection, NULL, &broken) == GYRE_OK;
    gyre_error_let_go();
    return answers;
}

bool proxy_standby_take(gyre_device *device)
{
    struct proxy_standby *standby = device->standby;
    if (!standby)
        return false;
    pthread_mutex_lock(&device->lock);
    /* this wait takes no longer than the start of another worker */
    while (!standby->quit && (standby->state == STANDBY_BEHIND || standby->state == STANDBY_BUSY))
        pthread_cond_wait(&device->changed, &device->lock);
    bool ready = standby->state == STANDBY_READY;
    if (ready)
        standby->state = STANDBY_ENDING; /* from here on this thread alone has it */
    pthread_mutex_unlock(&device->lock);
    if (!ready)
        return false;
    bool taken = promote_standby(device, standby->connection) && gyre_keeper_adopt(&device->keeper);
    pthread_mutex_lock(&device->lock);
    if (taken) {
        standby->state = STANDBY_NONE;
        standby->connection->incarnation = device->keeper.incarnation;
        standby->connection->next = device->connections;
        device->connections = standby->connection;
        standby->connection = NULL;
    } else {
        forget_standby(device);
    }
    pthread_mutex_unlock(&device->lock);
    if (!taken)
        gyre_keeper_kill_spare(&device->keeper);
    return taken;
}

bool proxy_standby_has(const gyre_device *device, uint64_t id)
{
    return standby_has(device->standby, id);
}

static bool is_there(const gyre_device *device, uint64_t id)
{
    for (const struct proxy_object *object = device->objects; object; object = object->next)
        if (object->id == id)
            return true;
    return false;
}

void proxy_standby_settle(gyre_device *device)
{
    struct proxy_standby *standby = device->standby;
    for (size_t i = 0; i < standby->module_count; i++)
        if (!is_there(device, standby->modules[i]))
            proxy_forget(device, standby->modules[i]);
    standby->module_count = 0;
}
