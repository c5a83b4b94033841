/* SPDX-License-Identifier: Apache-2.0 */
/* Who may come in at a server's door, and who makes room: arrivals.c. Threads: any. */
#ifndef GYRE_CORE_ATTACH_ARRIVALS_H
#define GYRE_CORE_ATTACH_ARRIVALS_H

#include "core/attach/server.h"

enum gyre_arrival {
    GYRE_ARRIVAL_NO_ROOM,
    GYRE_ARRIVAL_IN,
    GYRE_ARRIVAL_IN_PLACE /* of a connection that had said nothing, which was hung up */
};

/** Counts a connection in, whose user is known. Takes the lock. */
enum gyre_arrival gyre_arrivals_enter(struct gyre_server *server, struct gyre_session *session);
/** It has said something, or will not: it makes room for nobody any more. Takes the lock. */
void gyre_arrivals_heard(struct gyre_session *session);
/** Counts it out. Under the lock; the session's socket is open still, or was never another's. */
void gyre_arrivals_leave(struct gyre_session *session);

/** Counts it among those with a queue. EXHAUSTED: there are too many, or too many of its user. Takes the lock. */
gyre_status gyre_arrivals_attach(struct gyre_session *session);
/** The opposite; nothing for one that is not counted. Takes the lock. */
void gyre_arrivals_detach(struct gyre_session *session);

#endif
