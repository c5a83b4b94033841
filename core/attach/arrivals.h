/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the connections of a server, and decides which connection is let in, which one is hung up to make room, and
 * which one may get a queue or a state (arrivals.c). Threads: any.
 */
#ifndef GYRE_CORE_ATTACH_ARRIVALS_H
#define GYRE_CORE_ATTACH_ARRIVALS_H

#include "core/attach/server.h"

enum gyre_arrival {
    GYRE_ARRIVAL_NO_ROOM,
    GYRE_ARRIVAL_IN,
    GYRE_ARRIVAL_IN_PLACE /* let in; an older connection that had sent no packet yet was hung up for it */
};

/** Counts a new connection in. The caller has filled in session->user. Takes server->lock. */
enum gyre_arrival gyre_arrivals_enter(struct gyre_server *server, struct gyre_session *session);
/**
 * Call when the client's first packet has arrived or the session ends: from now on the connection is not hung up to
 * make room for another connection. Takes server->lock.
 */
void gyre_arrivals_heard(struct gyre_session *session);
/**
 * Counts the connection out. The caller holds server->lock. A caller that has closed the session's socket has called
 * gyre_arrivals_heard before that, because another socket may have its number by now.
 */
void gyre_arrivals_leave(struct gyre_session *session);

/**
 * Counts the session among the sessions with a queue. EXHAUSTED when the server, or the session's user, has the most
 * queues that are allowed. Takes server->lock.
 */
gyre_status gyre_arrivals_attach(struct gyre_session *session);
/** Undoes gyre_arrivals_attach. Does nothing for a session that is not counted. Takes server->lock. */
void gyre_arrivals_detach(struct gyre_session *session);

/** How many programs are sent a copy of a kernel's state at a time. */
enum { GYRE_READERS_MAX = 4 };
/**
 * Counts the session among those that are sent a state, until gyre_arrivals_end_reading. EXHAUSTED when the server, or
 * the session's user, has the most that are allowed. Takes server->lock.
 */
gyre_status gyre_arrivals_begin_reading(struct gyre_session *session);
/** Takes server->lock. */
void gyre_arrivals_end_reading(struct gyre_session *session);

#endif
