/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Swaps and moves kernels for other programs (their side: change_ask.c). Only the server's own user and root may ask: whoever may
 * send messages (gyre.socket_access) may not choose what runs. The system says who asks, not the packet.
 *
 * Takes no lock. The kernel is visited, so that it is not freed meanwhile. A program that hangs up ends the canary that it asked for, and
 * stops nothing else.
 */
#include "core/attach/change_told.h"

#include <poll.h>
#include <stdio.h>

#include "core/attach/arrivals.h"
#include "core/attach/change_packets.h"
#include "core/attach/session_kernel.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/change/canary.h"
#include "core/links/lend.h"
#include "core/kernel/visit.h"
#include "gyre/change.h"

/* The longest time that a program may ask for: the server's end waits for a change. It ends a canary, which may be longer. */
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

static void tell_who(const struct gyre_session *session, const struct gyre_change_request *request)
{
    static const char *const verbs[] = {[GYRE_CHANGE_SWAP] = "swap",
                                        [GYRE_CHANGE_MOVE] = "move",
                                        [GYRE_CHANGE_SWAP_BACK] = "bring back the former handler of",
                                        [GYRE_CHANGE_CANARY] = "try another handler in"};
    static const char *const words[] = {[GYRE_CHANGE_SWAP] = " for ",
                                        [GYRE_CHANGE_MOVE] = " to ",
                                        [GYRE_CHANGE_SWAP_BACK] = "",
                                        [GYRE_CHANGE_CANARY] = ": "};
    gyre_runtime_log(session->server->runtime, GYRE_LOG_INFO,
                     "process %u of user %u asks to %s kernel '%s'%s%s", session->process, session->user,
                     verbs[request->kind], request->kernel, words[request->kind], request->what);
}

/* Why a canary is to end: the server is about to end, or nobody waits for the answer any more. NULL: it is not. */
static const char *why_over(void *asked)
{
    const struct gyre_session *session = asked;
    struct pollfd looks[] = {{.fd = session->server->over, .events = POLLIN},
                             {.fd = session->socket, .events = POLLRDHUP}};
    poll(looks, 2, 0);
    if (looks[0].revents)
        return "the server ends";
    return looks[1].revents ? "the program that asked for it is gone" : NULL;
}

static gyre_status try_canary(struct gyre_session *session, const struct gyre_change_request *request,
                              uint64_t deadline_ns, gyre_canary_report *report)
{
    gyre_canary_desc desc = request->canary;
    if (desc.time_ns > GYRE_CHANGE_CANARY_MAX_NS)
        desc.time_ns = GYRE_CHANGE_CANARY_MAX_NS;
    return gyre_change_canary(session->kernel, request->what, &desc, why_over, session, deadline_ns, report);
}

static gyre_status carry_out(struct gyre_session *session, const struct gyre_change_request *request,
                             uint64_t deadline_ns, gyre_canary_report *report)
{
    gyre_kernel *kernel = session->kernel;
    switch (request->kind) {
    case GYRE_CHANGE_SWAP:
        return gyre_kernel_swap(kernel, request->what, deadline_ns);
    case GYRE_CHANGE_MOVE:
        return gyre_kernel_move(kernel, request->what, request->device, deadline_ns);
    case GYRE_CHANGE_CANARY:
        return try_canary(session, request, deadline_ns, report);
    case GYRE_CHANGE_SWAP_BACK:
        break;
    }
    return gyre_kernel_swap_back(kernel, deadline_ns);
}

/* Visits the kernel. Names no stages where a pipeline was asked for, because these cannot be changed either. */
static gyre_status visit(struct gyre_session *session, const struct gyre_change_request *request)
{
    const bool moves = request->kind == GYRE_CHANGE_MOVE;
    gyre_pipeline *pipeline = gyre_pipeline_visit(session->server->runtime, request->kernel);
    if (!pipeline)
        return gyre_session_visit(session, request->kernel);
    gyre_pipeline_leave(pipeline);
    return gyre_error_set(
        GYRE_INVALID,
        "'%s' is a pipeline of the server, and kernels of a pipeline are not %s: end the server and start it with %s",
        request->kernel, moves ? "moved" : "swapped", moves ? "the other device" : "the new file");
}

static gyre_status change(struct gyre_session *session, const struct gyre_change_request *request,
                          gyre_canary_report *report)
{
    const uint64_t time = request->time_ns < TIME_MAX_NS ? request->time_ns : TIME_MAX_NS;
    gyre_status status = check_user(session);
    if (status == GYRE_OK)
        status = visit(session, request);
    if (status != GYRE_OK)
        return status;
    tell_who(session, request);
    status = carry_out(session, request, gyre_clock_ns() + time, report);
    if (status != GYRE_OK && !report->text[0]) /* a canary has told already */
        gyre_runtime_log(session->server->runtime, GYRE_LOG_WARNING, "%s", gyre_error_text());
    gyre_kernel_leave(session->kernel);
    session->kernel = NULL;
    return status;
}

void gyre_session_change(struct gyre_session *session, struct gyre_parcel *parcel)
{
    struct gyre_change_request request;
    gyre_canary_report report = {.size = sizeof report};
    char why[1024];
    gyre_status status = gyre_change_request_get(parcel, &request);
    if (status == GYRE_OK)
        status = gyre_arrivals_begin_reading(session);
    if (status == GYRE_OK) {
        status = change(session, &request, &report);
        gyre_arrivals_end_reading(session);
    }
    snprintf(why, sizeof why, "%s", status == GYRE_OK ? "" : gyre_error_text());
    gyre_change_answer_put(parcel, status, why, &report);
    gyre_parcel_send(parcel, session->socket, GYRE_NO_WAIT);
}
