/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves one client from its first packet to its end: the client asks for a queue, gets it, and later leaves or is
 * told that its kernel ends.
 *
 * Takes only server->lock, for the counts. The session visits the kernel, so that the kernel is not freed while the
 * session has its queue. When the kernel is ended, the queue's notice (an eventfd) tells the session, and the session
 * ends. Must not wait for a client: a packet that cannot be sent at once is not sent, and any packet of an attached
 * client ends its session.
 */
#include "core/attach/arrivals.h"
#include "core/attach/refusals.h"
#include "core/attach/relay.h"
#include "core/attach/relay_run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/probe.h"
#include "core/queue/lent.h"
#include "core/queue/state.h"
#include "core/queue/queue.h"
#include "core/ring/region.h"
#include "core/kernel/kernel_queue.h"
#include "core/durability/relayed.h"
#include "core/kernel/visit.h"
#include "core/links/lend.h"
#include "core/attach/change_told.h"
#include "core/attach/publish.h"
#include "core/attach/session.h"
#include "core/attach/spread_told.h"
#include "core/attach/state_told.h"
#include "core/attach/session_kernel.h"

enum { MEETING_MS = 5000, RELAYED_MS = 1000, WHO_SIZE = GYRE_CLIENT_NAME_MAX + 64, SETTLE_MS = 2 };

/* ---- the meeting ---- */

/*
 * Makes the doorbell, and an epoll that hears it. The session never reads the doorbell: the client shares the file,
 * may make its reads wait (O_NONBLOCK) and may read it first, and the session would hang. An edge (EPOLLET) comes with
 * every write, whatever the client does with the file's number.
 */
static gyre_status make_doorbell(struct gyre_session *session)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    session->doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    session->rings = session->doorbell >= 0 ? epoll_create1(EPOLL_CLOEXEC) : -1;
    if (session->rings >= 0 && epoll_ctl(session->rings, EPOLL_CTL_ADD, session->doorbell, &event) == 0)
        return GYRE_OK;
    return gyre_error_set(GYRE_EXHAUSTED, "no descriptor for a doorbell: %s", strerror(errno));
}

/* Lends an entry of the pipeline. Its kernel is visited, too. */
static gyre_status lend_entry(struct gyre_session *session, const struct gyre_attach_request *request,
                              const char *entry)
{
    gyre_status status = gyre_session_check_wishes(session, request);
    session->options.trusted = session->server->trusted;
    if (status == GYRE_OK)
        status = gyre_pipeline_lend(session->pipeline, entry, &request->desc, &session->options,
                                    &session->kernel, &session->queue);
    if (status != GYRE_OK)
        session->kernel = NULL;
    return status == GYRE_OK ? make_doorbell(session) : status;
}

static gyre_status lend_queue(struct gyre_session *session, struct gyre_attach_request *request)
{
    const char *section, *entry;
    if (gyre_session_find_pipeline(session, request, &entry))
        return lend_entry(session, request, entry);
    gyre_status status = gyre_session_find_kernel(session, request, &section);
    if (status != GYRE_OK)
        return status;
    if (gyre_kernel_relays(session->kernel, section)) {
        status = gyre_relay_join(session->server, session->kernel, section, request, &session->options,
                                 &session->ring);
        session->queue = session->ring ? session->ring->queue : NULL;
    } else {
        session->options.trusted = session->server->trusted;
        status = gyre_kernel_lend_ring(session->kernel, &request->desc, section, &session->options,
                                       &session->queue);
    }
    if (status != GYRE_OK)
        return status;
    return make_doorbell(session);
}

/* Rewords an error about a packet: the parcel's sentences speak of workers, which send packets of the same form. */
static gyre_status blame_client(gyre_status status)
{
    if (status == GYRE_LOST)
        return gyre_error_set(status, "it hung up before it was answered");
    if (status == GYRE_TIMEOUT)
        return gyre_error_set(status, "it did not say what it wants, or takes no answer, and is hung up");
    return status == GYRE_INTERNAL ? gyre_error_set(status, "it sent what is no message of Gyre") : status;
}

static gyre_status welcome(const struct gyre_session *session, struct gyre_parcel *parcel)
{
    int control = -1;
    const struct gyre_kernel *kernel = session->kernel;
    const struct gyre_region *region = session->ring ? &session->ring->relay->region : &kernel->region;
    const struct gyre_queue_view *view = gyre_view_of(session->queue);
    const struct gyre_attach_answer answer = {
        .options = session->options,
        .control_size = region->size,
        .request = session->pipeline ? view->request : kernel->record->request,
        .reply = session->pipeline ? view->reply : kernel->record->reply};
    gyre_status status = gyre_region_reader(region, &control);
    if (status != GYRE_OK)
        return status;
    gyre_parcel_begin(parcel, GYRE_PARCEL_ATTACH, GYRE_OK);
    gyre_attach_answer_put(parcel, &answer);
    gyre_parcel_put_descriptor(parcel, gyre_ring_of(session->queue)->region.descriptor);
    gyre_parcel_put_descriptor(parcel, control);
    gyre_parcel_put_descriptor(parcel, session->doorbell);
    status = blame_client(gyre_parcel_send(parcel, session->socket, GYRE_NO_WAIT));
    close(control);
    return status;
}

/*
 * Names the client for the log. The client chooses its name, so characters that could look like a new line are not
 * printed.
 */
static const char *who_is(const struct gyre_session *session, char text[WHO_SIZE])
{
    char name[GYRE_CLIENT_NAME_MAX];
    snprintf(name, sizeof name, "%s", session->client);
    for (char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    if (name[0])
        snprintf(text, WHO_SIZE, "client '%s' (process %u of user %u)", name, session->process,
                 session->user);
    else
        snprintf(text, WHO_SIZE, "process %u of user %u", session->process, session->user);
    return text;
}

/* Refuses a client. The client is told every time that it tries; the log gets one line. */
static void refuse(const struct gyre_session *session, struct gyre_parcel *parcel, gyre_status status,
                   gyre_log_level level, const char *why)
{
    char who[WHO_SIZE];
    if (gyre_refusals_are_new(session->server, who_is(session, who), why))
        gyre_runtime_log(session->server->runtime, level, "%s was refused: %s", who, why);
    gyre_attach_refusal_put(parcel, status, &(struct gyre_attach_refusal){why, session->gone});
    gyre_parcel_send(parcel, session->socket, GYRE_NO_WAIT);
}

/*
 * Takes the client's entry off its pipeline once its flows are settled. A stage that is paused settles nothing; so once the server
 * ends they have until the deadline, and the rest is left to the pipeline. `patient`: also waits for as long as a handler does
 * not return, whose block may know the entry; else only until a deadline.
 */
static enum gyre_taken_back take_entry_back(const struct gyre_session *session, bool patient)
{
    struct pollfd over = {.fd = session->server->over, .events = POLLIN};
    const uint64_t patience_ns = patient ? UINT64_MAX : gyre_in_ms(RELAYED_MS);
    uint64_t deadline = 0;
    for (;;) {
        const enum gyre_taken_back how = gyre_pipeline_take_back(session->pipeline, session->queue);
        if (how == GYRE_BACK_FREED || how == GYRE_BACK_LEFT)
            return how;
        if (deadline == 0 && poll(&over, 1, SETTLE_MS) > 0)
            deadline = gyre_in_ms(RELAYED_MS);
        if (deadline && gyre_clock_ns() >= deadline)
            return GYRE_BACK_LEFT;
        if (how == GYRE_BACK_BUSY && gyre_clock_ns() >= patience_ns)
            return how;
        if (deadline)
            poll(NULL, 0, SETTLE_MS);
    }
}

/*
 * Stays until a handler that does not return has let go of what the client used, or the kernel or the server ends. So who
 * attaches and leaves again and again has a place for each queue whose memory is kept, and no more of it than places.
 */
static void await_let_go(const struct gyre_session *session, enum gyre_taken_back how)
{
    struct pollfd over = {.fd = session->server->over, .events = POLLIN};
    shutdown(session->socket, SHUT_RDWR); /* the client has heard how it ended, and does not wait any more */
    if (how == GYRE_BACK_BUSY)
        take_entry_back(session, true);
    while (gyre_kernel_free_let_go(session->kernel) && poll(&over, 1, SETTLE_MS) <= 0)
        ;
}

static void take_queue_back(struct gyre_session *session)
{
    if (session->pipeline && session->queue) {
        take_entry_back(session, true);
    } else if (session->ring) {
        gyre_relay_leave(session->ring, 0);
        gyre_relay_release(session->ring);
    } else {
        gyre_queue_close(session->queue);
    }
    session->ring = NULL;
    session->queue = NULL;
}

/*
 * Refuses a client after its place and name are free again, so that it may try anew as soon as it hears of the
 * refusal.
 */
static void turn_away(struct gyre_session *session, struct gyre_parcel *parcel, gyre_status status,
                      gyre_log_level level)
{
    char why[1024];
    snprintf(why, sizeof why, "%s", gyre_error_text());
    take_queue_back(session);
    gyre_arrivals_detach(session);
    refuse(session, parcel, status, level, why);
}

/*
 * How serious the log takes a refusal. When a client with answered requests is refused for good, the server is at
 * fault: it has an older journal, or other types.
 */
static gyre_log_level level_of(const struct gyre_attach_request *request, gyre_status status)
{
    return request->answered && status == GYRE_INCOMPATIBLE ? GYRE_LOG_WARNING : GYRE_LOG_INFO;
}

static gyre_status meet(struct gyre_session *session, struct gyre_parcel *parcel)
{
    struct gyre_attach_request request = {.types = NULL};
    gyre_status status = blame_client(gyre_parcel_receive(parcel, session->socket, gyre_in_ms(MEETING_MS)));
    gyre_arrivals_heard(session);
    if (status == GYRE_LOST)
        return status; /* the client only looked whether a server is here, and left */
    if (status == GYRE_OK && gyre_parcel_operation(parcel) == GYRE_PARCEL_STATE) {
        gyre_session_tell_state(session, parcel);
        return GYRE_LOST; /* it wanted no queue */
    }
    if (status == GYRE_OK && gyre_parcel_operation(parcel) == GYRE_PARCEL_CHANGE) {
        gyre_session_change(session, parcel);
        return GYRE_LOST;
    }
    if (status == GYRE_OK && gyre_parcel_operation(parcel) == GYRE_PARCEL_SPREAD) {
        gyre_session_tell_spread(session, parcel);
        return GYRE_LOST;
    }
    if (status == GYRE_OK && gyre_parcel_operation(parcel) == GYRE_PARCEL_SUBSCRIBE) {
        gyre_session_publish(session, parcel);
        return GYRE_LOST;
    }
    if (status == GYRE_OK)
        status = gyre_attach_request_get(parcel, &request);
    memcpy(session->client, request.client, sizeof session->client);
    request.user = session->user;
    if (status == GYRE_OK)
        status = gyre_arrivals_attach(session);
    if (status == GYRE_OK)
        status = lend_queue(session, &request);
    if (status == GYRE_OK)
        status = welcome(session, parcel);
    if (status != GYRE_OK)
        turn_away(session, parcel, status, level_of(&request, status));
    gyre_kept_release(&request.types);
    return status;
}

/* ---- the stay ---- */

static void say(const struct gyre_session *session, struct gyre_parcel *parcel,
                enum gyre_parcel_operation what, gyre_status status)
{
    gyre_parcel_begin(parcel, what, status);
    gyre_parcel_send(parcel, session->socket,
                     GYRE_NO_WAIT); /* a client that does not listen has itself to blame */
}

static void take_notice(int descriptor)
{
    uint64_t count;
    ssize_t got = read(descriptor, &count, sizeof count);
    (void)got; /* EAGAIN: nothing new */
}

static void take_rings(const struct gyre_session *session)
{
    struct epoll_event event;
    (void)!epoll_wait(session->rings, &event, 1, 0);
}

static void ring_kernel(const struct gyre_session *session)
{
    if (session->ring)
        gyre_relay_wake(session->ring);
    else
        gyre_bell_ring(&session->kernel->control->doorbell.bell, INT_MAX);
}

enum stay { STAYS, CLIENT_LEFT, CLIENT_LOST, KERNEL_ENDED, KERNEL_STUCK, SERVER_ENDS };

/* Reads the queue's notice. Tells the client once that sends are closed. */
static enum stay hear_notice(const struct gyre_session *session, struct gyre_parcel *parcel, bool *shut)
{
    take_notice(gyre_foreign_of(session->queue)->lent->notice);
    if (__atomic_load_n(&gyre_foreign_of(session->queue)->lent->ended, __ATOMIC_ACQUIRE))
        return KERNEL_ENDED;
    if (gyre_queue_abandoned(session->queue))
        return KERNEL_STUCK;
    if (!*shut && gyre_queue_closed(session->queue)) {
        say(session, parcel, GYRE_PARCEL_SHUT, GYRE_OK);
        *shut = true;
    }
    return STAYS;
}

/*
 * How the client left. A client that closes its queue shuts down its sending side and waits until the server hangs
 * up. Any other packet breaks the protocol.
 */
static enum stay how_it_left(short events)
{
    return events & (POLLHUP | POLLERR) ? CLIENT_LOST : CLIENT_LEFT;
}

static enum stay stay(const struct gyre_session *session, struct gyre_parcel *parcel)
{
    enum stay now = STAYS;
    bool shut = false;
    struct pollfd wait[] = {{.fd = session->socket, .events = POLLIN | POLLRDHUP},
                            {.fd = session->rings, .events = POLLIN},
                            {.fd = gyre_foreign_of(session->queue)->lent->notice, .events = POLLIN},
                            {.fd = session->server->over, .events = POLLIN}};
    while (now == STAYS) {
        if (poll(wait, 4, -1) < 0)
            continue;
        if (wait[1].revents) {
            take_rings(session);
            ring_kernel(session);
        }
        if (wait[2].revents)
            now = hear_notice(session, parcel, &shut);
        if (now == STAYS && wait[3].revents)
            now = SERVER_ENDS;
        if (now == STAYS && wait[0].revents)
            now = how_it_left(wait[0].revents);
    }
    return now;
}

/*
 * Parts from the client's relay. Requests that the relay took are completed first: to tell the client that they were
 * not handled would be wrong.
 */
static void part_from_relay(const struct gyre_session *session, struct gyre_parcel *parcel, enum stay how)
{
    uint64_t deadline = how == SERVER_ENDS ? gyre_in_ms(RELAYED_MS) : 0;
    bool all = gyre_relay_leave(session->ring, deadline);
    say(session, parcel, GYRE_PARCEL_ENDED, all ? GYRE_OK : GYRE_LOST);
    gyre_relay_release(session->ring);
}

/*
 * Ends a client's stay in this order: closes its sends, waits until the accepted requests are completed, tells the
 * client.
 */
static void part(const struct gyre_session *session, struct gyre_parcel *parcel, enum stay how)
{
    if (how == SERVER_ENDS)
        say(session, parcel, GYRE_PARCEL_SHUT, GYRE_OK);
    if (session->ring) {
        part_from_relay(session, parcel, how);
        return;
    }
    if (how == KERNEL_STUCK) { /* the kernel keeps the queue, whose memory a handler may still write */
        say(session, parcel, GYRE_PARCEL_ENDED, GYRE_LOST);
        return;
    }
    enum gyre_taken_back back = GYRE_BACK_FREED;
    if (!session->pipeline)
        gyre_queue_close(session->queue);
    else if (how != KERNEL_ENDED) /* else the pipeline has completed every request, and frees the queue */
        back = take_entry_back(session, false);
    say(session, parcel, GYRE_PARCEL_ENDED, back == GYRE_BACK_FREED ? GYRE_OK : GYRE_LOST);
    if (how != KERNEL_ENDED && how != SERVER_ENDS)
        await_let_go(session, back);
}

/* ---- the thread ---- */

static void note_meeting(struct gyre_server *server, gyre_status status)
{
    pthread_mutex_lock(&server->lock);
    server->admitted += status == GYRE_OK;
    server->refused += status != GYRE_OK && status != GYRE_LOST;
    pthread_mutex_unlock(&server->lock);
}

/* What the client is attached to, for the log. */
static const char *kind_of(const struct gyre_session *session)
{
    return session->pipeline ? "pipeline" : "kernel";
}

static const char *name_of(const struct gyre_session *session)
{
    return session->pipeline ? gyre_pipeline_name(session->pipeline) : session->kernel->name;
}

static void log_end(const struct gyre_session *session, enum stay how)
{
    static const struct {
        const char *before, *after;
    } ends[] = {[CLIENT_LEFT] = {"left", ""},
                [CLIENT_LOST] = {"is lost to", ": its program ended without closing its queue"},
                [KERNEL_ENDED] = {"was told of the end of", ""},
                [KERNEL_STUCK] = {"was told of the loss of", ", whose handler does not return"},
                [SERVER_ENDS] = {"was told that the server ends, and left", ""}};
    char who[WHO_SIZE];
    gyre_runtime_log(session->server->runtime, GYRE_LOG_INFO, "%s %s %s '%s'%s", who_is(session, who),
                     ends[how].before, kind_of(session), name_of(session), ends[how].after);
}

static void run(struct gyre_session *session, struct gyre_parcel *parcel)
{
    const gyre_runtime *runtime = session->server->runtime;
    char who[WHO_SIZE];
    gyre_status status = meet(session, parcel);
    note_meeting(session->server, status);
    if (status != GYRE_OK)
        return;
    gyre_refusals_forget(session->server, who_is(session, who));
    gyre_runtime_log(runtime, GYRE_LOG_INFO, "%s attached to %s '%s'", who, kind_of(session),
                     name_of(session));
    GYRE_PROBE2(attached, name_of(session), who);
    const enum stay how = stay(session, parcel);
    GYRE_PROBE2(detached, name_of(session), who);
    part(session, parcel, how);
    log_end(session, how);
}

/*
 * Takes the session off the server. Each thread that ends joins the thread that ended before it, so that at most one is
 * left to join, and none is inside this library when the server has ended.
 */
static void end_session(struct gyre_session *session)
{
    struct gyre_server *server = session->server;
    pthread_mutex_lock(&server->lock);
    const bool joins = server->has_ended;
    const pthread_t before = server->ended;
    server->ended = pthread_self();
    server->has_ended = true;
    gyre_arrivals_leave(session);
    pthread_cond_broadcast(&server->left);
    pthread_mutex_unlock(&server->lock);
    free(session);
    if (joins)
        pthread_join(before, NULL);
}

void *gyre_session_main(void *argument)
{
    struct gyre_session *session = argument;
    struct gyre_parcel parcel;
    if (gyre_parcel_init(&parcel) == GYRE_OK) {
        run(session, &parcel);
        gyre_parcel_finish(&parcel);
    }
    gyre_arrivals_detach(session);
    gyre_arrivals_heard(session); /* from now on nobody hangs up its socket, whose number may be another's */
    if (session->kernel)
        gyre_kernel_leave(session->kernel);
    if (session->pipeline)
        gyre_pipeline_leave(session->pipeline);
    close(session->socket);
    if (session->doorbell >= 0)
        close(session->doorbell);
    if (session->rings >= 0)
        close(session->rings);
    end_session(session);
    return NULL;
}
