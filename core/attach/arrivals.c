/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts connections to a server, for each user, and makes room for new connections. A server has a fixed number of
 * places for connections. A silent connection (no packet came from it yet) holds a place for as long as its session
 * waits for the packet. So when all places are taken, a silent connection is hung up: the oldest one of the user with
 * the most silent connections, so that no user keeps other users out.
 *
 * Lock: the caller has server->lock, unless a function says that it takes it.
 */
#include "core/attach/arrivals.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "core/base/error.h"

enum { CONNECTIONS_MORE = 32 };

struct gyre_attach_user {
    struct gyre_attach_user *next;
    uint32_t user;
    uint32_t sessions; /* sessions of this user; the user is freed with the last session */
    uint32_t silent, attached, readers;
};

/* ---- users ---- */

static struct gyre_attach_user *find_user(struct gyre_server *server, uint32_t user)
{
    struct gyre_attach_user *found = server->users;
    while (found && found->user != user)
        found = found->next;
    if (found)
        return found;
    found = calloc(1, sizeof *found);
    if (!found)
        return NULL;
    found->user = user;
    found->next = server->users;
    server->users = found;
    return found;
}

static void leave_user(struct gyre_server *server, struct gyre_attach_user *user)
{
    struct gyre_attach_user **link = &server->users;
    if (--user->sessions)
        return;
    while (*link != user)
        link = &(*link)->next;
    *link = user->next;
    free(user);
}

/* ---- who is silent ---- */

static void enlist(struct gyre_server *server, struct gyre_session *session)
{
    session->arrived_before = server->last_silent;
    session->arrived_after = NULL;
    if (server->last_silent)
        server->last_silent->arrived_after = session;
    else
        server->first_silent = session;
    server->last_silent = session;
    session->silent = true;
    session->of->silent++;
}

static void unlist(struct gyre_server *server, struct gyre_session *session)
{
    if (!session->silent)
        return;
    *(session->arrived_before ? &session->arrived_before->arrived_after : &server->first_silent) =
        session->arrived_after;
    *(session->arrived_after ? &session->arrived_after->arrived_before : &server->last_silent) =
        session->arrived_before;
    session->silent = false;
    session->of->silent--;
}

/*
 * The oldest silent connection of the user with the most silent connections. The newcomer's connection counts for its
 * user.
 */
static struct gyre_session *find_victim(const struct gyre_server *server,
                                        const struct gyre_attach_user *newcomer)
{
    const struct gyre_attach_user *most = NULL;
    for (const struct gyre_attach_user *user = server->users; user; user = user->next)
        if (user->silent && (!most || user->silent + (user == newcomer) > most->silent + (most == newcomer)))
            most = user;
    struct gyre_session *session = most ? server->first_silent : NULL;
    while (session && session->of != most)
        session = session->arrived_after;
    return session;
}

/*
 * Hangs a silent connection up. Its thread sees the end of the socket and leaves; until then both connections are
 * inside.
 */
static bool make_room(struct gyre_server *server, const struct gyre_attach_user *newcomer)
{
    struct gyre_session *victim = find_victim(server, newcomer);
    if (!victim || server->turned_out >= server->clients_max + CONNECTIONS_MORE)
        return false;
    unlist(server, victim);
    victim->turned_out = true;
    server->turned_out++;
    server->refused++;
    shutdown(victim->socket, SHUT_RDWR);
    return true;
}

/* ---- coming and going ---- */

/* The server lets more connections in than may have queues, so that a client that gets no queue is told why. */
static bool has_place(const struct gyre_server *server)
{
    return server->inside - server->turned_out < server->clients_max + CONNECTIONS_MORE;
}

enum gyre_arrival gyre_arrivals_enter(struct gyre_server *server, struct gyre_session *session)
{
    pthread_mutex_lock(&server->lock);
    session->of = find_user(server, session->user);
    enum gyre_arrival arrival = !session->of                     ? GYRE_ARRIVAL_NO_ROOM
                                : has_place(server)              ? GYRE_ARRIVAL_IN
                                : make_room(server, session->of) ? GYRE_ARRIVAL_IN_PLACE
                                                                 : GYRE_ARRIVAL_NO_ROOM;
    if (session->of)
        session->of->sessions++;
    if (arrival == GYRE_ARRIVAL_NO_ROOM) {
        server->refused++;
        if (session->of)
            leave_user(server, session->of);
    } else {
        server->inside++;
        enlist(server, session);
    }
    pthread_mutex_unlock(&server->lock);
    return arrival;
}

void gyre_arrivals_heard(struct gyre_session *session)
{
    pthread_mutex_lock(&session->server->lock);
    unlist(session->server, session);
    pthread_mutex_unlock(&session->server->lock);
}

void gyre_arrivals_leave(struct gyre_session *session)
{
    struct gyre_server *server = session->server;
    unlist(server, session);
    server->turned_out -= session->turned_out;
    leave_user(server, session->of);
    server->inside--;
}

/* ---- queues ---- */

/*
 * The most of `all` places that one user may have: three quarters for a foreign user of a server that is open to other
 * users.
 */
static uint32_t share_of(const struct gyre_server *server, uint32_t user, uint32_t all)
{
    const bool alone = !server->open_to_others || user == server->user;
    return alone ? all : all - all / 4;
}

gyre_status gyre_arrivals_attach(struct gyre_session *session)
{
    struct gyre_server *server = session->server;
    const uint32_t share = share_of(server, session->user, server->clients_max);
    pthread_mutex_lock(&server->lock);
    const uint32_t own = session->of->attached;
    const bool room = server->attached < server->clients_max, fair = own < share;
    session->counted = room && fair;
    server->attached += session->counted;
    session->of->attached += session->counted;
    pthread_mutex_unlock(&server->lock);
    if (!room)
        return gyre_error_set(
            GYRE_EXHAUSTED,
            "%u clients are attached, which is the most (gyre.clients_max of the server): raise that, or attach when "
            "one has left",
            server->clients_max);
    return fair
               ? GYRE_OK
               : gyre_error_set(
                     GYRE_EXHAUSTED,
                     "user %u has %u clients attached, which is the most that one user may have (three "
                     "quarters of gyre.clients_max = %u of the server): raise that, or attach when one has left",
                     session->user, own, server->clients_max);
}

void gyre_arrivals_detach(struct gyre_session *session)
{
    struct gyre_server *server = session->server;
    pthread_mutex_lock(&server->lock);
    server->attached -= session->counted;
    session->of->attached -= session->counted;
    session->counted = false;
    pthread_mutex_unlock(&server->lock);
}

/* ---- copies of states ---- */

gyre_status gyre_arrivals_begin_reading(struct gyre_session *session)
{
    struct gyre_server *server = session->server;
    const uint32_t share = share_of(server, session->user, GYRE_READERS_MAX);
    pthread_mutex_lock(&server->lock);
    const uint32_t own = session->of->readers;
    const bool room = server->readers < GYRE_READERS_MAX, fair = own < share;
    server->readers += room && fair;
    session->of->readers += room && fair;
    pthread_mutex_unlock(&server->lock);
    if (!room)
        return gyre_error_set(GYRE_EXHAUSTED,
                              "%d programs read states there at this moment, which is the most",
                              GYRE_READERS_MAX);
    return fair ? GYRE_OK
                : gyre_error_set(GYRE_EXHAUSTED,
                                 "%u programs of user %u read states there at this moment, which is the most "
                                 "that one user may have",
                                 own, session->user);
}

void gyre_arrivals_end_reading(struct gyre_session *session)
{
    pthread_mutex_lock(&session->server->lock);
    session->server->readers--;
    session->of->readers--;
    pthread_mutex_unlock(&session->server->lock);
}
