/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a worker process with a mark, connects to it, hears its messages, and tells its end in words
 * (worker_process.h). Has no state and takes no lock.
 */
#include "core/isolation/worker_process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/libc.h"
#include "core/base/fault.h"
#include "core/isolation/guard.h"
#include "core/isolation/worker.h"
#include "gyre/lack.h"
#include "gyre/waiting.h"

#define CONNECT_NS UINT64_C(2000000000)

gyre_status gyre_worker_start(bool stands_by, int program, struct gyre_worker_process *out)
{
    char mark[GYRE_MARK_SIZE];
    const uint64_t number = gyre_guard_mark(mark);
    const struct gyre_worker_role role = {
        .name = stands_by ? "standby" : NULL, .mark = mark, .program = program};
    const int fault = GYRE_FAULT_POINT(KEEPER_SPAWN);
    if (fault)
        return gyre_error_set(GYRE_EXHAUSTED, "the worker program cannot be started: %s", strerror(fault));
    gyre_status status = gyre_worker_spawn(&role, out);
    if (status == GYRE_OK)
        out->number = number;
    return status;
}

gyre_status gyre_worker_connect(int worker, int *socket)
{
    int ends[2];
    struct gyre_parcel parcel;
    gyre_status status = gyre_parcel_init(&parcel);
    if (status != GYRE_OK)
        return status;
    if (GYRE_FAULT_POINT(KEEPER_CONNECT) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        status = gyre_error_set(GYRE_EXHAUSTED, "no socket for a worker process: %s%s", strerror(errno),
                                gyre_lack_remedy(errno));
        gyre_parcel_finish(&parcel);
        return status;
    }
    gyre_parcel_begin(&parcel, GYRE_PARCEL_CONNECT, GYRE_OK);
    gyre_parcel_put_descriptor(&parcel, ends[1]);
    status = gyre_parcel_send(&parcel, worker, gyre_clock_ns() + CONNECT_NS);
    parcel.descriptor_count = 0; /* it was lent */
    gyre_parcel_finish(&parcel);
    close(ends[1]);
    if (status == GYRE_OK)
        *socket = ends[0];
    else
        close(ends[0]);
    return status;
}

bool gyre_worker_hear(int worker, struct gyre_parcel *parcel,
                      void (*heard)(void *context, struct gyre_parcel *message), void *context)
{
    gyre_error_hold();
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK) {
        status = gyre_parcel_receive(parcel, worker, 0);
        if (status == GYRE_OK)
            heard(context, parcel);
    }
    gyre_error_let_go();
    return status == GYRE_TIMEOUT;
}

void gyre_worker_explain(int wait_status, bool known, char *text, size_t size)
{
    const char *name =
        known && WIFSIGNALED(wait_status) ? gyre_libc_signal_name(WTERMSIG(wait_status)) : NULL;
    if (name) /* the short name, which a failure's text has room for */
        snprintf(text, size, "signal %d (SIG%s)", WTERMSIG(wait_status), name);
    else if (known && WIFSIGNALED(wait_status))
        snprintf(text, size, "signal %d", WTERMSIG(wait_status));
    else if (known && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == GYRE_WORKER_DEVICE_DIED)
        snprintf(text, size, "its device died");
    else if (known && WIFEXITED(wait_status))
        snprintf(text, size, "it ended with exit code %d", WEXITSTATUS(wait_status));
    else
        snprintf(text, size, "it ended, and the program keeps from telling why");
}
