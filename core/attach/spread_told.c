/* SPDX-License-Identifier: Apache-2.0 */
/* Tells programs which devices a kernel is on (their side: attach_shards.c). Takes runtime->lock for the look. */
#include "core/attach/spread_told.h"

#include <stdio.h>

#include "core/attach/spread_packets.h"
#include "core/base/error.h"

static gyre_status look(const struct gyre_session *session, struct gyre_parcel *parcel,
                        struct gyre_spread_view *view)
{
    char kernel[GYRE_MEETING_NAME_MAX];
    const gyre_status status = gyre_spread_request_get(parcel, kernel);
    if (status != GYRE_OK || gyre_spread_view_get(session->server->runtime, kernel, view))
        return status;
    return gyre_error_set(
        GYRE_NOT_FOUND,
        "the server has no kernel '%s' on several devices; attach with gyre_attach to one on one device",
        kernel);
}

void gyre_session_tell_spread(struct gyre_session *session, struct gyre_parcel *parcel)
{
    struct gyre_spread_view view;
    char why[512];
    const gyre_status status = look(session, parcel, &view);
    if (status == GYRE_OK) {
        gyre_spread_answer_put(parcel, &view);
    } else {
        snprintf(why, sizeof why, "%s", gyre_error_text());
        gyre_spread_refusal_put(parcel, status, why);
    }
    gyre_parcel_send(parcel, session->socket, GYRE_NO_WAIT);
}
