/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds a program that subscribed to a topic (the program's side: subscribe.c). The session subscribes in its place
 * (core/links/subscriber.h), and sends what it receives over the client's socket: as many messages in a packet as are there.
 *
 * Takes no lock. A client that reads nothing fills its socket, then the rings of the subscription; what happens then is what it
 * asked for. Nobody else waits for it, and the server's end waits for a moment only.
 */
#include "core/attach/publish.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/attach/arrivals.h"
#include "core/attach/meeting.h"
#include "core/attach/refusals.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/links/lend.h"
#include "core/links/subscription.h"
#include "gyre/waiting.h"

enum {
    LOOK_MS =
        50, /* how often a session that has nothing to send looks whether its client, or the server, ended */
    END_MS = 1000,
    PACKET = 32 * 1024, /* a packet that has so many bytes takes no more messages */
    PIPELINES_MAX = 64
};

struct publishing {
    struct gyre_session *session;
    struct gyre_parcel *parcel;
    gyre_subscription *subscription;
    unsigned char *message;
    uint64_t deadline_ns; /* 0: the server does not end */
    uint64_t missed;      /* told to the client */
    uint64_t sent;        /* messages of packets that were sent */
};

/* ---- beginning ---- */

static gyre_status no_such_pipeline(const struct gyre_session *session, const char *name)
{
    char open[PIPELINES_MAX][GYRE_PIPELINE_NAME_MAX], list[256], hint[GYRE_TEXT_HINT_SIZE];
    const char *names[PIPELINES_MAX] = {NULL};
    const size_t count = gyre_pipelines_name(session->server->runtime, open, PIPELINES_MAX);
    for (size_t i = 0; i < count; i++)
        names[i] = open[i];
    gyre_text_list(names, count, list, sizeof list);
    return gyre_error_set(GYRE_NOT_FOUND, "the server has no pipeline '%s'%s%s%s", name,
                          count ? "; it has: " : ", and no other", list,
                          gyre_text_hint(name, names, count, hint));
}

static gyre_status subscribe_at(const struct gyre_session *session, const char *pipeline, const char *topic,
                                const gyre_subscribe_desc *desc, gyre_subscription **out)
{
    gyre_pipeline *found = gyre_pipeline_visit(session->server->runtime, pipeline);
    if (!found)
        return no_such_pipeline(session, pipeline);
    const gyre_status status = gyre_subscribe(found, topic, desc, out);
    gyre_pipeline_leave(found);
    return status;
}

static bool has_topic(const struct gyre_session *session, const char *pipeline, const char *topic)
{
    gyre_pipeline *found = gyre_pipeline_visit(session->server->runtime, pipeline);
    const bool has = found && gyre_pipeline_has_topic(found, topic);
    if (found)
        gyre_pipeline_leave(found);
    return has;
}

/* Finds the one pipeline that has the topic. */
static gyre_status find_pipeline(const struct gyre_session *session, const char *topic,
                                 char pipeline[GYRE_PIPELINE_NAME_MAX])
{
    char names[PIPELINES_MAX][GYRE_PIPELINE_NAME_MAX];
    size_t found = PIPELINES_MAX;
    const size_t count = gyre_pipelines_name(session->server->runtime, names, PIPELINES_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!has_topic(session, names[i], topic))
            continue;
        if (found != PIPELINES_MAX)
            return gyre_error_set(GYRE_INVALID,
                                  "pipelines '%s' and '%s' both have a topic '%s': expected PIPELINE/TOPIC",
                                  names[found], names[i], topic);
        found = i;
    }
    if (found == PIPELINES_MAX && count != 1)
        return gyre_error_set(GYRE_NOT_FOUND,
                              count ? "no pipeline of the server has a topic, or an outlet, '%s'"
                                    : "the server has no pipelines, and no topic '%s'",
                              topic);
    memcpy(pipeline, names[found == PIPELINES_MAX ? 0 : found], GYRE_PIPELINE_NAME_MAX);
    return GYRE_OK;
}

static gyre_status check_wishes(const struct gyre_session *session,
                                const struct gyre_subscribe_request *request)
{
    const struct gyre_server *server = session->server;
    if (request->capacity > server->capacity_max)
        return gyre_error_set(
            GYRE_INVALID,
            "a client may ask for at most %llu slots here (gyre.client_capacity_max of the server), found %llu: ask "
            "for fewer, or raise that",
            (unsigned long long)server->capacity_max, (unsigned long long)request->capacity);
    if (request->slow == GYRE_SLOW_WAIT && session->user != server->user)
        return gyre_error_set(
            GYRE_INVALID,
            "slow = wait would let user %u hold up the pipeline of user %u: expected drop or cut",
            session->user, server->user);
    return GYRE_OK;
}

static gyre_status begin(struct publishing *publishing, struct gyre_subscribe_request *request)
{
    char pipeline[GYRE_PIPELINE_NAME_MAX];
    struct gyre_session *session = publishing->session;
    const gyre_subscribe_desc desc = {
        .size = sizeof desc, .slow = request->slow, .capacity = request->capacity};
    const char *topic = request->name;
    char *slash = strchr(request->name, '/');
    gyre_status status = check_wishes(session, request);
    if (slash) {
        *slash = '\0';
        topic = slash + 1;
        snprintf(pipeline, sizeof pipeline, "%s", request->name);
    } else if (status == GYRE_OK) {
        status = find_pipeline(session, topic, pipeline);
    }
    if (status == GYRE_OK)
        status = gyre_arrivals_attach(session);
    if (status == GYRE_OK)
        status = subscribe_at(session, pipeline, topic, &desc, &publishing->subscription);
    if (status != GYRE_OK)
        return status;
    publishing->message = malloc(publishing->subscription->layout->size);
    return publishing->message ? GYRE_OK : gyre_error_set(GYRE_EXHAUSTED, "no memory for a subscription");
}

/* ---- the end ---- */

static void refuse(const struct publishing *publishing, gyre_status status)
{
    char why[1024], who[64];
    const struct gyre_session *session = publishing->session;
    snprintf(why, sizeof why, "%s", gyre_error_text());
    snprintf(who, sizeof who, "process %u of user %u", session->process, session->user);
    gyre_arrivals_detach(publishing->session); /* it may try again as soon as it hears of it */
    if (gyre_refusals_are_new(session->server, who, why))
        gyre_runtime_log(session->server->runtime, GYRE_LOG_INFO, "%s was refused: %s", who, why);
    gyre_parcel_begin(publishing->parcel, GYRE_PARCEL_SUBSCRIBE, status);
    gyre_parcel_put_text(publishing->parcel, why);
    gyre_parcel_send(publishing->parcel, session->socket, GYRE_NO_WAIT);
}

static bool server_ends(const struct publishing *publishing)
{
    struct pollfd over = {.fd = publishing->session->server->over, .events = POLLIN};
    return poll(&over, 1, 0) > 0;
}

/* A client hangs up in the end, and sends nothing before. */
static bool client_left(const struct publishing *publishing)
{
    struct pollfd client = {.fd = publishing->session->socket, .events = POLLIN | POLLRDHUP};
    return poll(&client, 1, 0) > 0;
}

/* LOST: the client left. TIMEOUT: the server ended long ago. */
static gyre_status look_around(struct publishing *publishing)
{
    if (publishing->deadline_ns == 0 && server_ends(publishing))
        publishing->deadline_ns = gyre_in_ms(END_MS);
    if (client_left(publishing))
        return GYRE_LOST;
    return publishing->deadline_ns && gyre_clock_ns() >= publishing->deadline_ns ? GYRE_TIMEOUT : GYRE_OK;
}

/* ---- sending ---- */

static gyre_status send_packet(struct publishing *publishing)
{
    gyre_status status = GYRE_TIMEOUT;
    while (status == GYRE_TIMEOUT) {
        status = gyre_parcel_send(publishing->parcel, publishing->session->socket, gyre_in_ms(LOOK_MS));
        if (status == GYRE_TIMEOUT && look_around(publishing) != GYRE_OK)
            return GYRE_LOST;
    }
    return status;
}

static gyre_status receive(struct publishing *publishing, gyre_publication *about, uint64_t deadline_ns)
{
    return gyre_subscription_receive(publishing->subscription, publishing->message,
                                     publishing->subscription->layout->size, about, deadline_ns);
}

/* Puts the messages that are there into a packet, the first of which is in publishing->message. Returns how many. */
static uint64_t fill_packet(struct publishing *publishing, gyre_publication *about)
{
    gyre_status status = GYRE_OK;
    uint64_t count = 0;
    gyre_parcel_begin(publishing->parcel, GYRE_PARCEL_PUBLISHED, GYRE_OK);
    while (status == GYRE_OK) { /* an end is found again when the packet is sent */
        const struct gyre_published published = {.missed = about->missed, .length = about->length};
        gyre_published_put(publishing->parcel, &published, publishing->message);
        publishing->missed += about->missed;
        count++;
        if (publishing->parcel->length >= PACKET)
            break;
        status = receive(publishing, about, GYRE_NO_WAIT);
    }
    return count;
}

/* Sends one packet, or finds that there is nothing to send. */
static gyre_status publish_some(struct publishing *publishing)
{
    gyre_publication about = {.size = sizeof about};
    gyre_status status =
        receive(publishing, &about, publishing->deadline_ns ? GYRE_NO_WAIT : gyre_in_ms(LOOK_MS));
    if (status == GYRE_TIMEOUT)
        return look_around(publishing);
    if (status == GYRE_AGAIN)
        return gyre_error_set(GYRE_CLOSED, "the server ended");
    if (status != GYRE_OK)
        return status;
    const uint64_t count = fill_packet(publishing, &about);
    status = send_packet(publishing);
    publishing->sent += status == GYRE_OK ? count : 0;
    return status;
}

static void tell_end(struct publishing *publishing)
{
    char why[1024];
    gyre_subscription_info info = {.size = sizeof info};
    snprintf(why, sizeof why, "%s", gyre_error_text());
    gyre_subscription_info_get(publishing->subscription, &info);
    const struct gyre_publishing_end end = {
        .why = why, .missed = info.missed - publishing->missed, .is_cut = info.is_cut != 0};
    gyre_publishing_end_put(publishing->parcel, &end);
    send_packet(publishing);
}

static void publish(struct publishing *publishing)
{
    gyre_status status = GYRE_OK;
    gyre_subscription_info info = {.size = sizeof info};
    const struct gyre_session *session = publishing->session;
    const gyre_runtime *runtime = session->server->runtime;
    const char *name = publishing->subscription->name;
    gyre_runtime_log(runtime, GYRE_LOG_INFO, "process %u of user %u subscribed to '%s'", session->process,
                     session->user, name);
    while (status == GYRE_OK)
        status = publish_some(publishing);
    if (status == GYRE_CLOSED)
        tell_end(publishing);
    gyre_subscription_info_get(publishing->subscription, &info);
    gyre_runtime_log(
        runtime, GYRE_LOG_INFO, "process %u of user %u %s '%s': it was sent %llu messages and missed %llu",
        session->process, session->user, status == GYRE_CLOSED ? "was told of the end of" : "left", name,
        (unsigned long long)publishing->sent,
        (unsigned long long)(info.missed + info.received - publishing->sent)); /* also what it did not take */
}

static void count_meeting(struct gyre_server *server, gyre_status status)
{
    pthread_mutex_lock(&server->lock);
    server->admitted += status == GYRE_OK;
    server->refused += status != GYRE_OK;
    pthread_mutex_unlock(&server->lock);
}

void gyre_session_publish(struct gyre_session *session, struct gyre_parcel *parcel)
{
    struct gyre_subscribe_request request;
    struct publishing publishing = {.session = session, .parcel = parcel};
    gyre_status status = gyre_subscribe_request_get(parcel, &request);
    if (status == GYRE_OK)
        status = begin(&publishing, &request);
    count_meeting(session->server, status);
    if (status != GYRE_OK) {
        refuse(&publishing, status);
    } else {
        gyre_subscribe_answer_put(parcel, publishing.subscription->name,
                                  publishing.subscription->layout->type);
        if (gyre_parcel_send(parcel, session->socket, gyre_in_ms(END_MS)) == GYRE_OK)
            publish(&publishing);
    }
    gyre_unsubscribe(publishing.subscription);
    free(publishing.message);
}
