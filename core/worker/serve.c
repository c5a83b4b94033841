/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers the core's calls (serve.h). The control socket brings connections, and each connection has a thread that
 * answers one call after the other. So a call that waits does not hold up calls on other connections.
 */
#include "core/worker/serve.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/base/threads.h"
#include "core/isolation/worker.h"
#include "core/worker/arguments.h"
#include "core/worker/device.h"
#include "core/worker/log.h"
#include "core/worker/objects.h"
#include "core/worker/operations.h"

#define LOOK_NS 20000000

static gyre_status release_object(struct gyre_parcel *parcel)
{
    uint64_t id = gyre_parcel_get_u64(parcel);
    if (!gyre_parcel_whole(parcel))
        return worker_nonsense();
    gyre_status status = worker_release(id);
    gyre_parcel_begin(parcel, GYRE_PARCEL_RELEASE, GYRE_OK);
    return status;
}

static worker_operation *const operations[] = {
    [GYRE_PARCEL_OPEN] = worker_open,
    [GYRE_PARCEL_CLOSE] = worker_close,
    [GYRE_PARCEL_COMPILE] = worker_compile,
    [GYRE_PARCEL_MODULE_LOAD] = worker_module_load,
    [GYRE_PARCEL_MODULE_KERNEL] = worker_module_kernel,
    [GYRE_PARCEL_QUEUE_ALLOC] = worker_queue_alloc,
    [GYRE_PARCEL_MEMORY_ALLOC] = worker_memory_alloc,
    [GYRE_PARCEL_TRANSFER] = worker_transfer,
    [GYRE_PARCEL_MEMORY_COPY] = worker_memory_copy,
    [GYRE_PARCEL_PROMOTE] = worker_promote,
    [GYRE_PARCEL_LAUNCH] = worker_launch,
    [GYRE_PARCEL_WAIT] = worker_wait,
    [GYRE_PARCEL_NOTIFY] = worker_notify,
    [GYRE_PARCEL_RELEASE] = release_object,
};

/*
 * Ends the process after its device died, as a crash would. A device that died, of a handler or by itself, may leave
 * the process alive, but the process is of no more use.
 */
static _Noreturn void end_with_device(void)
{
    worker_log(NULL, GYRE_LOG_ERROR, gyre_error_text());
    _exit(GYRE_WORKER_DEVICE_DIED);
}

/* Answers one call: with the answer that the operation wrote, else with its status and sentence. */
static void answer_call(struct gyre_parcel *parcel)
{
    enum gyre_parcel_operation operation = gyre_parcel_operation(parcel);
    size_t index = (size_t)operation;
    gyre_error_clear();
    worker_operation *function = index < sizeof operations / sizeof operations[0] ? operations[index] : NULL;
    gyre_status status = GYRE_OK;
    if (!function || (operation != GYRE_PARCEL_OPEN && !worker_device()))
        status = worker_nonsense();
    else
        status = function(parcel);
    if (status == GYRE_LOST && worker_device())
        end_with_device();
    if (status == GYRE_OK || gyre_parcel_status(parcel) == status)
        return;
    gyre_parcel_begin(parcel, operation, status);
    gyre_parcel_put_text(parcel, gyre_error_cause());
}

static void *serve_connection(void *argument)
{
    int socket = (int)(intptr_t)argument;
    struct gyre_parcel parcel;
    gyre_status status = gyre_parcel_init(&parcel);
    while (status == GYRE_OK) {
        status = gyre_parcel_receive(&parcel, socket, UINT64_MAX);
        if (status == GYRE_OK) {
            (void)GYRE_FAULT_POINT(WORKER_CALL);
            answer_call(&parcel);
            (void)GYRE_FAULT_POINT(WORKER_ANSWER);
        }
        if (status == GYRE_OK)
            status = gyre_parcel_send(&parcel, socket, UINT64_MAX);
    }
    gyre_parcel_finish(&parcel);
    close(socket);
    return NULL;
}

static gyre_status start_connection(struct gyre_parcel *parcel)
{
    pthread_t thread;
    int socket = gyre_parcel_take_descriptor(parcel);
    if (gyre_parcel_operation(parcel) != GYRE_PARCEL_CONNECT || socket < 0)
        return worker_nonsense();
    gyre_status status = gyre_thread_need(&thread, serve_connection, (void *)(intptr_t)socket,
                                          "for calls to the worker process");
    if (status != GYRE_OK) {
        worker_log(NULL, GYRE_LOG_ERROR, gyre_error_text());
        close(socket); /* the caller is told that nobody answers */
        return GYRE_OK;
    }
    pthread_detach(thread);
    return GYRE_OK;
}

static void *watch_device(void *argument)
{
    const struct timespec pause = {0, LOOK_NS};
    (void)argument;
    while (worker_look_at_residents() != GYRE_LOST)
        nanosleep(&pause, NULL);
    end_with_device();
}

static gyre_status start_watch(void)
{
    pthread_t thread;
    gyre_status status =
        gyre_thread_need(&thread, watch_device, NULL, "to watch the device of the worker process");
    if (status == GYRE_OK)
        pthread_detach(thread);
    else
        worker_log(NULL, GYRE_LOG_ERROR, gyre_error_text());
    return status;
}

void worker_serve(int control)
{
    struct gyre_parcel parcel;
    fcntl(control, F_SETFD, FD_CLOEXEC); /* compilers that a plugin runs are no business of the core's */
    gyre_status status = gyre_parcel_init(&parcel);
    if (status == GYRE_OK)
        status = worker_log_open(control);
    if (status == GYRE_OK)
        status = start_watch();
    while (status == GYRE_OK) {
        status = gyre_parcel_receive(&parcel, control, UINT64_MAX);
        if (status == GYRE_OK)
            status = start_connection(&parcel);
    }
}
