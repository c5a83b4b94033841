/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Swaps and moves kernels for other programs (their side: change_ask.c). Only the server's own user and root may ask: whoever may
 * send messages (gyre.socket_access) may not choose what runs. The system says who asks, not the packet.
 *
 * Takes no lock. The kernel is visited, so that it is not freed meanwhile. A program that hangs up does not stop what it asked for.
 */
#include "core/attach/change_told.h"

#include <stdio.h>

#include "core/attach/arrivals.h"
#include "core/attach/change_packets.h"
#include "core/attach/session_kernel.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/kernel/visit.h"
#include "gyre/change.h"

/* The longest time that a program may ask for: the server's end waits for a change. */
#define TIME_MAX_NS UINT64_C(60000000000)

static gyre_status check_user(const struct gyre_session *session)
{
    if (session->user == 0 || session->user == session->server->user)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "user %u may send messages here, and may not change kernels: only user %u, who serves them, and root "
        "may",
        session->user, session->server->user);
}

static gyre_status change(struct gyre_session *session, const struct gyre_change_request *request)
{
    const uint64_t time = request->time_ns < TIME_MAX_NS ? request->time_ns : TIME_MAX_NS;
    gyre_status status = check_user(session);
    if (status == GYRE_OK)
        status = gyre_session_visit(session, request->kernel);
    if (status != GYRE_OK)
        return status;
    gyre_runtime_log(session->server->runtime, GYRE_LOG_INFO, "process %u of user %u %s kernel '%s' %s '%s'",
                     session->process, session->user, request->kind == GYRE_CHANGE_SWAP ? "swaps" : "moves",
                     request->kernel, request->kind == GYRE_CHANGE_SWAP ? "for" : "to", request->what);
    const uint64_t deadline = gyre_clock_ns() + time;
    status = request->kind == GYRE_CHANGE_SWAP
                 ? gyre_kernel_swap(session->kernel, request->what, deadline)
                 : gyre_kernel_move(session->kernel, request->what, request->device, deadline);
    if (status != GYRE_OK)
        gyre_runtime_log(session->server->runtime, GYRE_LOG_WARNING, "%s", gyre_error_text());
    gyre_kernel_leave(session->kernel);
    session->kernel = NULL;
    return status;
}

void gyre_session_change(struct gyre_session *session, struct gyre_parcel *parcel)
{
    struct gyre_change_request request;
    char why[1024];
    gyre_status status = gyre_change_request_get(parcel, &request);
    if (status == GYRE_OK)
        status = gyre_arrivals_begin_reading(session);
    if (status == GYRE_OK) {
        status = change(session, &request);
        gyre_arrivals_end_reading(session);
    }
    snprintf(why, sizeof why, "%s", status == GYRE_OK ? "" : gyre_error_text());
    gyre_change_answer_put(parcel, status, why);
    gyre_parcel_send(parcel, session->socket, GYRE_NO_WAIT);
}
