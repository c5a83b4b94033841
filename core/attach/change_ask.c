/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a server to swap or move a kernel (the server's side: change_told.c). Takes no lock. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/attach/change_packets.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "gyre/change.h"
#include "gyre/waiting.h"

enum { ASK_MS = 30000 };

static gyre_status tell_unanswered(const char *path, gyre_status status)
{
    if (status == GYRE_TIMEOUT)
        return gyre_error_set(
            status,
            "the server at %s did not answer in time: what was asked for may still happen, and its log says so",
            path);
    if (status == GYRE_LOST)
        return gyre_error_set(
            status,
            "the server at %s hung up before it answered: it ended, or has no room for one more program",
            path);
    return gyre_error_add(status, "the answer of the server at %s", path);
}

/* `report` is filled in where the server answered. */
static gyre_status ask(struct gyre_parcel *parcel, const struct gyre_change_request *request, int socket,
                       const char *path, uint64_t deadline_ns, gyre_canary_report *report)
{
    gyre_change_request_put(parcel, request);
    gyre_status status = gyre_parcel_send(parcel, socket, deadline_ns);
    if (status == GYRE_OK)
        status = gyre_parcel_receive(parcel, socket, deadline_ns);
    if (status != GYRE_OK)
        return tell_unanswered(path, status);
    status = gyre_parcel_status(parcel);
    if (status != GYRE_OK)
        gyre_meeting_refused(parcel);
    else
        (void)gyre_parcel_get_text(parcel);
    if (gyre_parcel_operation(parcel) == GYRE_PARCEL_CHANGE)
        gyre_change_report_get(parcel, report);
    else if (status == GYRE_OK)
        status =
            gyre_parcel_refuse(parcel, GYRE_INTERNAL, "the server answered in a way that makes no sense");
    return status;
}

/* `report` NULL: what became of a canary is not told. */
static gyre_status ask_server(struct gyre_change_request *request, const gyre_attach_desc *given,
                              gyre_canary_report *report)
{
    char path[GYRE_PLACE_MAX];
    int socket = -1;
    struct gyre_parcel parcel;
    gyre_canary_report told = {.size = sizeof told};
    gyre_attach_desc desc = {.size = sizeof desc};
    if (given)
        memcpy(&desc, given, given->size < sizeof desc ? given->size : sizeof desc);
    const uint64_t deadline = desc.deadline_ns ? desc.deadline_ns : gyre_in_ms(ASK_MS), now = gyre_clock_ns();
    request->time_ns = deadline > now ? deadline - now : 0;
    gyre_status status = gyre_place_find(desc.path, false, path);
    if (status == GYRE_OK)
        status = gyre_place_socket(&socket);
    if (status != GYRE_OK)
        return status;
    status = gyre_place_connect(path, deadline, socket);
    if (status == GYRE_OK)
        status = gyre_parcel_init(&parcel);
    if (status == GYRE_OK) {
        status =
            ask(&parcel, request, socket, path, gyre_clock_after(deadline, request->canary.time_ns), &told);
        gyre_parcel_finish(&parcel);
    }
    close(socket);
    if (report) {
        told.size = report->size;
        memcpy(report, &told, told.size < sizeof told ? told.size : sizeof told);
    }
    return status;
}

static gyre_status fill_name(struct gyre_change_request *request, const char *kernel)
{
    if (strlen(kernel) >= sizeof request->kernel)
        return gyre_error_set(GYRE_INVALID, "no kernel has a name of %zu characters", strlen(kernel));
    snprintf(request->kernel, sizeof request->kernel, "%s", kernel);
    return GYRE_OK;
}

/* The server works in another folder. */
static gyre_status fill_source(struct gyre_change_request *request, const char *source)
{
    char folder[PATH_MAX] = "";
    if (source[0] != '/' && !getcwd(folder, sizeof folder))
        return gyre_error_set(GYRE_INVALID, "'%s' is no absolute path, and there is no folder here", source);
    const int length =
        snprintf(request->what, sizeof request->what, "%s%s%s", folder, folder[0] ? "/" : "", source);
    if (length < 0 || (size_t)length >= sizeof request->what)
        return gyre_error_set(GYRE_INVALID, "the path of '%.40s...' is longer than %d characters", source,
                              PATH_MAX);
    return GYRE_OK;
}

gyre_status gyre_served_swap(const char *kernel, const char *source, const gyre_attach_desc *desc)
{
    struct gyre_change_request request = {.kind = GYRE_CHANGE_SWAP};
    if (!kernel || !kernel[0] || !source || !source[0] || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_served_swap", {"kernel", kernel && kernel[0]},
                              {"source", source && source[0]}, GYRE_SIZED_OR_NULL(desc));
    gyre_status status = fill_name(&request, kernel);
    if (status == GYRE_OK)
        status = fill_source(&request, source);
    return status == GYRE_OK ? ask_server(&request, desc, NULL) : status;
}

gyre_status gyre_served_swap_canary(const char *kernel, const char *source, const gyre_canary_desc *canary,
                                    const gyre_attach_desc *desc, gyre_canary_report *report)
{
    struct gyre_change_request request = {.kind = GYRE_CHANGE_CANARY};
    if (!kernel || !kernel[0] || !source || !source[0] || !canary || canary->size < sizeof canary->size ||
        (desc && desc->size < sizeof desc->size) || (report && report->size < sizeof report->size))
        return GYRE_ARGUMENTS("gyre_served_swap_canary", {"kernel", kernel && kernel[0]},
                              {"source", source && source[0]}, GYRE_SIZED(canary), GYRE_SIZED_OR_NULL(desc),
                              GYRE_SIZED_OR_NULL(report));
    memcpy(&request.canary, canary, canary->size < sizeof *canary ? canary->size : sizeof *canary);
    if (!request.canary.time_ns)
        request.canary.time_ns = GYRE_CANARY_TIME_NS;
    if (request.canary.time_ns > GYRE_CHANGE_CANARY_MAX_NS)
        request.canary.time_ns = GYRE_CHANGE_CANARY_MAX_NS;
    gyre_status status = fill_name(&request, kernel);
    if (status == GYRE_OK)
        status = fill_source(&request, source);
    return status == GYRE_OK ? ask_server(&request, desc, report) : status;
}

gyre_status gyre_served_swap_back(const char *kernel, const gyre_attach_desc *desc)
{
    struct gyre_change_request request = {.kind = GYRE_CHANGE_SWAP_BACK};
    if (!kernel || !kernel[0] || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_served_swap_back", {"kernel", kernel && kernel[0]},
                              GYRE_SIZED_OR_NULL(desc));
    const gyre_status status = fill_name(&request, kernel);
    return status == GYRE_OK ? ask_server(&request, desc, NULL) : status;
}

gyre_status gyre_served_move(const char *kernel, const char *backend, uint32_t device,
                             const gyre_attach_desc *desc)
{
    struct gyre_change_request request = {.kind = GYRE_CHANGE_MOVE, .device = device};
    if (!kernel || !kernel[0] || !backend || !backend[0] || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_served_move", {"kernel", kernel && kernel[0]},
                              {"backend", backend && backend[0]}, GYRE_SIZED_OR_NULL(desc));
    gyre_status status = fill_name(&request, kernel);
    if (status == GYRE_OK && strlen(backend) >= GYRE_MEETING_NAME_MAX)
        status = gyre_error_set(GYRE_INVALID, "no backend has a name of %zu characters", strlen(backend));
    snprintf(request.what, sizeof request.what, "%s", backend);
    return status == GYRE_OK ? ask_server(&request, desc, NULL) : status;
}
