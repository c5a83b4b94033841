/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts and ends a server, and runs its door: the thread that accepts connections. Each client gets a session with a
 * thread of its own (session.c), because a client's detaching waits for a handler and must not hold up other clients.
 *
 * Lock: server->lock for the counts. A server must not outlive its runtime, so the runtime ends a server that its
 * owner forgot.
 */
#include "core/attach/arrivals.h"
#include "core/attach/relay.h"
#include "core/attach/relay_run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/attach/session.h"
#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/base/threads.h"
#include "core/device/runtime.h"

/* ---- who comes in ---- */

static struct gyre_session *make_session(struct gyre_server *server, int client)
{
    struct ucred who = {.uid = (uid_t)-1};
    socklen_t size = sizeof who;
    struct gyre_session *session = calloc(1, sizeof *session);
    if (!session)
        return NULL;
    getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &size);
    *session = (struct gyre_session){.server = server,
                                     .socket = client,
                                     .doorbell = -1,
                                     .rings = -1,
                                     .process = (uint32_t)who.pid,
                                     .user = who.uid};
    return session;
}

/*
 * Logs that no client can be let in (`why`), and later that one came in again (`why` NULL): one line each. Door's
 * thread only.
 */
static void note_trouble(struct gyre_server *server, const char *why)
{
    if (why && !server->in_trouble)
        gyre_runtime_log(server->runtime, GYRE_LOG_WARNING, "nobody can attach at %s: %s", server->path, why);
    if (!why && server->in_trouble)
        gyre_runtime_log(server->runtime, GYRE_LOG_WARNING, "programs can attach at %s again", server->path);
    server->in_trouble = why != NULL;
}

/*
 * Logs in the same way that a silent client had to make room, and later that there is room again. Door's thread only.
 */
static void note_crowd(struct gyre_server *server, bool crowded)
{
    if (crowded && !server->is_crowded)
        gyre_runtime_log(server->runtime, GYRE_LOG_WARNING,
                         "so many programs are connected to %s that those that say nothing are hung up",
                         server->path);
    server->is_crowded = crowded;
}

static void drop_session(struct gyre_session *session)
{
    struct gyre_server *server = session->server;
    pthread_mutex_lock(&server->lock);
    gyre_arrivals_leave(session);
    server->refused++;
    pthread_mutex_unlock(&server->lock);
    free(session);
}

static void receive(struct gyre_server *server, int client)
{
    struct gyre_session *session = make_session(server, client);
    const enum gyre_arrival arrival = session ? gyre_arrivals_enter(server, session) : GYRE_ARRIVAL_NO_ROOM;
    pthread_t thread; /* the next session that leaves joins it */
    if (arrival != GYRE_ARRIVAL_NO_ROOM &&
        gyre_thread_need(&thread, gyre_session_main, session, "for one more program") == GYRE_OK) {
        note_trouble(server, NULL);
        note_crowd(server, arrival == GYRE_ARRIVAL_IN_PLACE);
        return;
    }
    if (arrival != GYRE_ARRIVAL_NO_ROOM)
        drop_session(session);
    else
        free(session);
    note_trouble(server, arrival != GYRE_ARRIVAL_NO_ROOM
                             ? gyre_error_text()
                             : "too many programs are on their way in (gyre.clients_max)");
    close(client);
}

static void let_in(struct gyre_server *server)
{
    int client = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
    if (client >= 0) {
        receive(server, client);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        note_trouble(server, strerror(errno));
        nanosleep(&(struct timespec){0, 10000000},
                  NULL); /* no descriptors, most likely: some may be closed soon */
    }
}

static void *watch_door(void *argument)
{
    struct gyre_server *server = argument;
    struct pollfd wait[] = {{.fd = server->listener, .events = POLLIN},
                            {.fd = server->over, .events = POLLIN}};
    while (!wait[1].revents) {
        if (poll(wait, 2, -1) > 0 && wait[0].revents && !wait[1].revents)
            let_in(server);
    }
    return NULL;
}

/* ---- beginning and end ---- */

static void end_server(struct gyre_server *server)
{
    uint64_t one = 1;
    ssize_t written = write(server->over, &one, sizeof one);
    (void)written; /* an empty eventfd takes it */
    pthread_join(server->door, NULL);
    gyre_place_leave(server->path, server->listener);
    pthread_mutex_lock(&server->lock);
    while (server->inside)
        pthread_cond_wait(&server->left, &server->lock);
    pthread_mutex_unlock(&server->lock);
    if (server->has_ended)
        pthread_join(server->ended, NULL);
    gyre_relays_end(server);
    close(server->over);
    pthread_mutex_destroy(&server->relay_lock);
    pthread_cond_destroy(&server->left);
    pthread_mutex_destroy(&server->lock);
}

/* Ends a server whose runtime is closed first. The struct stays until its owner closes the server's handle. */
static void end_guest(struct gyre_runtime_guest *guest)
{
    struct gyre_server *server = (struct gyre_server *)guest;
    end_server(server);
    server->runtime = NULL;
}

void gyre_server_close(gyre_server *server)
{
    if (!server)
        return;
    if (server->runtime && gyre_runtime_check_own(server->runtime, "gyre_server_close") != GYRE_OK)
        return; /* a forked child's copy: the server is the parent's */
    if (server->runtime && gyre_runtime_remove_guest(server->runtime, &server->guest))
        end_server(server);
    free(server);
}

static int64_t setting(const gyre_runtime *runtime, const char *key)
{
    return gyre_config_int(runtime->config, GYRE_SECTION_GYRE, NULL, key);
}

static uint32_t choose_mode(const gyre_runtime *runtime, const gyre_serve_desc *desc)
{
    static const uint32_t modes[] = {0600, 0660, 0666}; /* in the order of the key's words */
    return desc->mode ? desc->mode : modes[setting(runtime, "socket_access")];
}

static gyre_status open_door(struct gyre_server *server, const gyre_serve_desc *desc)
{
    const char *configured = gyre_config_text(server->runtime->config, GYRE_SECTION_GYRE, NULL, "socket");
    const uint32_t mode = choose_mode(server->runtime, desc);
    server->user = (uint32_t)geteuid();
    server->open_to_others = (mode & (S_IRWXG | S_IRWXO)) != 0;
    gyre_status status = gyre_place_find(desc->path ? desc->path : configured, true, server->path);
    if (status == GYRE_OK)
        status = gyre_place_listen(server->path, mode, &server->listener);
    if (status != GYRE_OK)
        return status;
    status = gyre_thread_need(&server->door, watch_door, server, "for the server at %s", server->path);
    if (status != GYRE_OK)
        gyre_place_leave(server->path, server->listener);
    return status;
}

static gyre_status start(gyre_runtime *runtime, const gyre_serve_desc *desc, struct gyre_server *server)
{
    server->guest.end = end_guest;
    server->runtime = runtime;
    server->clients_max = desc->clients_max ? desc->clients_max : (uint32_t)setting(runtime, "clients_max");
    server->capacity_max =
        desc->capacity_max ? desc->capacity_max : (uint64_t)setting(runtime, "client_capacity_max");
    server->trusted = desc->trusted || setting(runtime, "trusted");
    server->over = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->over < 0)
        return gyre_error_set(GYRE_EXHAUSTED, "no descriptor for a server: %s", strerror(errno));
    pthread_mutex_init(&server->lock, NULL);
    pthread_mutex_init(&server->relay_lock, NULL);
    pthread_cond_init(&server->left, NULL);
    gyre_status status = open_door(server, desc);
    if (status != GYRE_OK) {
        pthread_mutex_destroy(&server->relay_lock);
        pthread_cond_destroy(&server->left);
        pthread_mutex_destroy(&server->lock);
        close(server->over);
    }
    return status;
}

gyre_status gyre_serve(gyre_runtime *runtime, const gyre_serve_desc *desc, gyre_server **out)
{
    gyre_serve_desc given = {.size = sizeof given};
    if (!runtime || !out || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_serve", {"runtime", runtime}, {"out", out}, GYRE_SIZED_OR_NULL(desc));
    *out = NULL;
    if (desc)
        memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    gyre_status status = gyre_runtime_check_own(runtime, "gyre_serve");
    if (status == GYRE_OK && given.mode > (S_IRWXU | S_IRWXG | S_IRWXO))
        status = gyre_error_set(GYRE_INVALID,
                                "gyre_serve: mode: expected the rights of a file, 0001 to 0777, or 0 (as "
                                "configured), found %#o",
                                given.mode);
    if (status != GYRE_OK)
        return status;
    struct gyre_server *server = calloc(1, sizeof *server);
    if (!server)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a server");
    status = start(runtime, &given, server);
    if (status != GYRE_OK) {
        free(server);
        return status;
    }
    gyre_runtime_add_guest(runtime, &server->guest);
    *out = server;
    return GYRE_OK;
}

gyre_status gyre_server_info_get(gyre_server *server, gyre_server_info *info)
{
    gyre_server_info now = {0};
    if (!server || !info || info->size < sizeof info->size)
        return GYRE_ARGUMENTS("gyre_server_info_get", {"server", server}, GYRE_SIZED(info));
    memcpy(now.path, server->path, sizeof now.path);
    if (server->runtime) /* else its threads are gone, and the lock */
        pthread_mutex_lock(&server->lock);
    now.attached = server->attached;
    now.admitted = server->admitted;
    now.refused = server->refused;
    if (server->runtime)
        pthread_mutex_unlock(&server->lock);
    gyre_info_give(info, &now, sizeof now);
    return GYRE_OK;
}
