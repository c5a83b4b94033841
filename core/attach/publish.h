/* SPDX-License-Identifier: Apache-2.0 */
/* The server's side of a subscription (meeting.h). */
#ifndef GYRE_CORE_ATTACH_PUBLISH_H
#define GYRE_CORE_ATTACH_PUBLISH_H

#include "core/attach/server.h"

/**
 * Answers a request to subscribe, which is in the parcel, and sends messages until the client leaves, the topic ends or the server
 * does. The client's memory is not read, and nothing that it sends is, but for the request.
 */
void gyre_session_publish(struct gyre_session *session, struct gyre_parcel *parcel);

#endif
