/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends a program a copy of a kernel's state (the program's side: state_copy.c). The state is copied between two
 * messages and sent in packets, while the kernel goes on and may end.
 *
 * Takes no lock. A program that asks and does not read must not keep the server's memory, nor hold up the server's end:
 * the copy is given up when the program does not take a packet in time.
 */
#include "core/attach/state_told.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/attach/arrivals.h"
#include "core/attach/session_kernel.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/kernel/keyed.h"
#include "core/kernel/visit.h"

enum { PIECE_MS = 1000, TELL_MS = 60000 };

static gyre_status read_wanted(gyre_kernel *kernel, const struct gyre_state_request *request, void *out,
                               uint64_t size)
{
    unsigned char key[GYRE_KEYED_KEY_MAX];
    size_t key_size = 0;
    if (!request->of_key)
        return gyre_kernel_state_read(kernel, out, size);
    gyre_status status = gyre_keyed_parse(kernel, request->key, key, &key_size);
    return status == GYRE_OK ? gyre_kernel_key_read(kernel, key, key_size, out, size) : status;
}

static gyre_status read_state(gyre_kernel *kernel, const struct gyre_state_request *request,
                              unsigned char **out, uint64_t *size)
{
    *size = kernel->memory.state ? kernel->record->state->size : 0;
    if (*size == 0)
        return gyre_error_set(GYRE_INVALID, "kernel '%s' keeps no state between messages", kernel->name);
    *out = malloc(*size);
    return *out ? read_wanted(kernel, request, *out, *size)
                : gyre_error_set(GYRE_EXHAUSTED,
                                 "no memory for a copy of the %llu bytes that kernel '%s' keeps",
                                 (unsigned long long)*size, kernel->name);
}

static bool server_ends(const struct gyre_server *server)
{
    struct pollfd over = {.fd = server->over, .events = POLLIN};
    return poll(&over, 1, 0) > 0;
}

static gyre_status tell_bytes(const struct gyre_session *session, struct gyre_parcel *parcel,
                              const unsigned char *bytes, uint64_t size)
{
    const uint64_t deadline = gyre_in_ms(TELL_MS);
    gyre_status status = GYRE_OK;
    for (uint64_t at = 0; status == GYRE_OK && at < size; at += GYRE_STATE_PIECE) {
        if (server_ends(session->server) || gyre_clock_ns() >= deadline)
            return GYRE_TIMEOUT;
        gyre_parcel_begin(parcel, GYRE_PARCEL_STATE, GYRE_OK);
        gyre_parcel_put(parcel, bytes + at, size - at < GYRE_STATE_PIECE ? size - at : GYRE_STATE_PIECE);
        status = gyre_parcel_send(parcel, session->socket, gyre_in_ms(PIECE_MS));
    }
    return status;
}

static void refuse(const struct gyre_session *session, struct gyre_parcel *parcel, gyre_status status)
{
    char why[1024];
    snprintf(why, sizeof why, "%s", gyre_error_text());
    gyre_parcel_begin(parcel, GYRE_PARCEL_STATE, status);
    gyre_parcel_put_text(parcel, why);
    gyre_parcel_send(parcel, session->socket, GYRE_NO_WAIT);
}

/* Takes the copy and sends its type. The kernel owns the type, so this is done before the kernel may be freed. */
static gyre_status begin(struct gyre_session *session, struct gyre_parcel *parcel,
                         const struct gyre_state_request *request, unsigned char **bytes, uint64_t *size)
{
    gyre_status status = gyre_session_visit(session, request->kernel);
    if (status != GYRE_OK)
        return status;
    status = read_state(session->kernel, request, bytes, size);
    if (status == GYRE_OK) {
        gyre_runtime_log(session->server->runtime, GYRE_LOG_INFO,
                         "process %u of user %u read the state of kernel '%s'", session->process,
                         session->user, session->kernel->name);
        gyre_state_answer_put(parcel, session->kernel->record->state);
    }
    gyre_kernel_leave(session->kernel);
    session->kernel = NULL;
    return status;
}

static void tell(struct gyre_session *session, struct gyre_parcel *parcel,
                 const struct gyre_state_request *request)
{
    unsigned char *bytes = NULL;
    uint64_t size = 0;
    gyre_status status = begin(session, parcel, request, &bytes, &size);
    if (status != GYRE_OK)
        refuse(session, parcel, status);
    else if (gyre_parcel_send(parcel, session->socket, gyre_in_ms(PIECE_MS)) == GYRE_OK)
        tell_bytes(session, parcel, bytes, size);
    free(bytes);
}

void gyre_session_tell_state(struct gyre_session *session, struct gyre_parcel *parcel)
{
    struct gyre_state_request request;
    gyre_status status = gyre_state_request_get(parcel, &request);
    if (status == GYRE_OK)
        status = gyre_arrivals_begin_reading(session);
    if (status != GYRE_OK) {
        refuse(session, parcel, status);
        return;
    }
    tell(session, parcel, &request);
    gyre_arrivals_end_reading(session);
}
