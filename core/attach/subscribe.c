/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subscription to a topic of a server (its side: publish.c): asks for it, and takes messages out of the server's packets. The
 * packets are not believed: a message is checked against the type that the server told before the caller gets it.
 *
 * Lock: subscribed->lock for the packet and what was read of it. Nobody holds it while waiting: threads wait at the socket, and
 * who finds a packet there takes it.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/attach/meeting.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/links/subscription.h"
#include "core/types/message.h"
#include "gyre/waiting.h"

enum { ASK_MS = 5000, ASK_DOUBLINGS = 4 };
/* the first pause before a server without room is asked again; later pauses grow to 16 times this */
#define ASK_AGAIN_NS UINT64_C(5000000)

struct subscribed {
    struct gyre_subscription face; /* first */
    char path[GYRE_PLACE_MAX];
    int socket;

    pthread_mutex_t lock;
    pthread_cond_t left; /* `inside` fell to 0 */
    uint32_t inside;     /* threads that receive */
    bool closing;        /* gyre_unsubscribe was called */
    bool is_open;        /* the parcel holds a packet, which may have more messages */
    struct gyre_parcel parcel;
    gyre_status ended; /* not OK: nothing more comes, and `why` */
    char why[1024];
    uint64_t received, missed;
    bool is_cut;
};

/* ---- asking ---- */

static gyre_status tell_unanswered(const char *path, gyre_status status)
{
    if (status == GYRE_TIMEOUT)
        return gyre_error_set(status, "the server at %s did not answer in time", path);
    if (status == GYRE_LOST)
        return gyre_error_set(
            status,
            "the server at %s hung up: it ended, or has no room for one more program, which "
            "its log says then",
            path);
    return gyre_error_add(status, "the answer of the server at %s", path);
}

static gyre_status take_answer(struct subscribed *subscribed, const gyre_subscribe_desc *desc)
{
    const gyre_type *type;
    struct gyre_kept_block *types = NULL;
    gyre_status status = gyre_subscribe_answer_get(&subscribed->parcel, subscribed->face.name, &type, &types);
    if (status == GYRE_OK)
        status = gyre_layout_create_message(type, GYRE_MESSAGE_MAX, &subscribed->face.layout);
    gyre_kept_release(&types);
    if (status != GYRE_OK)
        return gyre_error_add(status, "the type of the topic, as the server told it");
    return gyre_subscription_check_type(subscribed->face.layout, desc->type);
}

/* Asks the server once. *again: it has no room at this moment. */
static gyre_status ask(struct subscribed *subscribed, const struct gyre_subscribe_request *request,
                       const gyre_subscribe_desc *desc, bool *again)
{
    struct gyre_parcel *parcel = &subscribed->parcel;
    *again = false;
    gyre_status status = gyre_place_socket(&subscribed->socket);
    if (status == GYRE_OK)
        status = gyre_place_connect(subscribed->path, desc->deadline_ns, subscribed->socket);
    if (status != GYRE_OK)
        return status;
    gyre_subscribe_request_put(parcel, request);
    status = gyre_parcel_send(parcel, subscribed->socket, desc->deadline_ns);
    if (status == GYRE_OK)
        status = gyre_parcel_receive(parcel, subscribed->socket, desc->deadline_ns);
    *again = status == GYRE_LOST || (status == GYRE_OK && gyre_parcel_status(parcel) == GYRE_EXHAUSTED);
    if (status != GYRE_OK)
        return gyre_error_add_overdue(tell_unanswered(subscribed->path, status), desc->deadline_ns);
    return gyre_parcel_status(parcel) == GYRE_OK ? take_answer(subscribed, desc)
                                                 : gyre_meeting_refused(parcel);
}

static void hang_up(struct subscribed *subscribed)
{
    if (subscribed->socket >= 0)
        close(subscribed->socket);
    subscribed->socket = -1;
}

/* Asks a server without room again until the deadline, whose last refusal is the error then. */
static gyre_status meet(struct subscribed *subscribed, const struct gyre_subscribe_request *request,
                        const gyre_subscribe_desc *desc)
{
    bool again = false;
    gyre_status status = ask(subscribed, request, desc, &again);
    for (int tries = 0; again && gyre_clock_ns() < desc->deadline_ns; tries++) {
        const gyre_status before = status;
        const struct timespec pause =
            gyre_clock_timespec(ASK_AGAIN_NS << (tries < ASK_DOUBLINGS ? tries : ASK_DOUBLINGS));
        snprintf(subscribed->why, sizeof subscribed->why, "%s", gyre_error_text());
        hang_up(subscribed);
        nanosleep(&pause, NULL);
        status = ask(subscribed, request, desc, &again);
        if (status == GYRE_UNAVAILABLE || status == GYRE_TIMEOUT)
            return gyre_error_set(before, "%s", subscribed->why);
    }
    return status;
}

/* ---- receiving ---- */

static void note_end(struct subscribed *subscribed, gyre_status status)
{
    subscribed->ended = status;
    snprintf(subscribed->why, sizeof subscribed->why, "%s", gyre_error_text());
}

static gyre_status tell_nonsense(void)
{
    return gyre_error_set(GYRE_INTERNAL, "the server sent a message in a way that makes no sense");
}

/* Takes the next message of the packet. */
static gyre_status take_message(struct subscribed *subscribed, void *message, gyre_publication *about)
{
    struct gyre_published published;
    struct gyre_parcel *parcel = &subscribed->parcel;
    const gyre_layout *layout = subscribed->face.layout;
    if (!gyre_published_get(parcel, layout->size, &published) || published.length < layout->least ||
        published.length > parcel->length - parcel->at)
        return tell_nonsense();
    const unsigned char *bytes = parcel->bytes + parcel->at;
    const gyre_status status = gyre_layout_check_message(layout, bytes, published.length);
    if (status != GYRE_OK)
        return gyre_error_add(tell_nonsense(), "a message of '%s'", subscribed->face.name);
    gyre_subscription_copy(layout, message, bytes, published.length);
    parcel->at += published.length;
    subscribed->is_open = parcel->at < parcel->length;
    subscribed->received++;
    subscribed->missed += published.missed;
    about->length = published.length;
    about->missed = published.missed;
    return GYRE_OK;
}

static gyre_status take_end(struct subscribed *subscribed)
{
    const struct gyre_publishing_end end = gyre_publishing_end_get(&subscribed->parcel);
    subscribed->missed += end.missed;
    subscribed->is_cut = end.is_cut;
    return gyre_error_set(GYRE_CLOSED, "%s", end.why);
}

/* Takes the packet that has come. AGAIN: none has. */
static gyre_status take_packet(struct subscribed *subscribed)
{
    gyre_status status = gyre_parcel_receive(&subscribed->parcel, subscribed->socket, GYRE_NO_WAIT);
    if (status == GYRE_TIMEOUT)
        return GYRE_AGAIN;
    if (status == GYRE_LOST)
        return gyre_error_set(status, "the server at %s is gone, and with it the subscription to '%s'",
                              subscribed->path, subscribed->face.name);
    if (status != GYRE_OK)
        return status;
    const enum gyre_parcel_operation operation = gyre_parcel_operation(&subscribed->parcel);
    if (operation == GYRE_PARCEL_ENDED)
        return take_end(subscribed);
    subscribed->is_open = operation == GYRE_PARCEL_PUBLISHED;
    return subscribed->is_open ? GYRE_OK : tell_nonsense();
}

/* Under the lock. AGAIN: nothing is there yet. */
static gyre_status take(struct subscribed *subscribed, void *message, gyre_publication *about)
{
    gyre_status status = GYRE_OK;
    if (subscribed->closing)
        return gyre_error_set(GYRE_CLOSED, "the subscription to '%s' was ended", subscribed->face.name);
    if (subscribed->ended != GYRE_OK)
        return gyre_error_set(subscribed->ended, "%s", subscribed->why);
    if (!subscribed->is_open)
        status = take_packet(subscribed);
    if (status == GYRE_OK)
        status = take_message(subscribed, message, about);
    if (status != GYRE_OK && status != GYRE_AGAIN)
        note_end(subscribed, status);
    return status;
}

/* Waits at the socket, without the lock. */
static void wait_for_packet(const struct subscribed *subscribed, uint64_t deadline_ns)
{
    struct pollfd wait = {.fd = subscribed->socket, .events = POLLIN | POLLRDHUP};
    const uint64_t now = gyre_clock_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
    const struct timespec until = gyre_clock_timespec(left);
    ppoll(&wait, 1, deadline_ns == GYRE_FOREVER ? NULL : &until, NULL);
}

static gyre_status take_or_wait(struct subscribed *subscribed, void *message, gyre_publication *about,
                                uint64_t deadline_ns)
{
    for (;;) {
        gyre_status status = take(subscribed, message, about);
        if (status != GYRE_AGAIN)
            return status;
        status = gyre_subscription_may_wait(deadline_ns);
        if (status != GYRE_OK)
            return status;
        pthread_mutex_unlock(&subscribed->lock);
        wait_for_packet(subscribed, deadline_ns);
        pthread_mutex_lock(&subscribed->lock);
    }
}

static gyre_status receive(gyre_subscription *subscription, void *message, gyre_publication *about,
                           uint64_t deadline_ns)
{
    struct subscribed *subscribed = (struct subscribed *)(void *)subscription;
    pthread_mutex_lock(&subscribed->lock);
    subscribed->inside++;
    const gyre_status status = take_or_wait(subscribed, message, about, deadline_ns);
    if (--subscribed->inside == 0)
        pthread_cond_broadcast(&subscribed->left);
    pthread_mutex_unlock(&subscribed->lock);
    return status;
}

static void look(gyre_subscription *subscription, gyre_subscription_info *info)
{
    struct subscribed *subscribed = (struct subscribed *)(void *)subscription;
    pthread_mutex_lock(&subscribed->lock);
    info->received = subscribed->received;
    info->missed = subscribed->missed;
    info->is_cut = subscribed->is_cut;
    pthread_mutex_unlock(&subscribed->lock);
}

/* ---- the object ---- */

static void free_subscribed(struct subscribed *subscribed)
{
    hang_up(subscribed);
    gyre_layout_destroy(subscribed->face.layout);
    gyre_parcel_finish(&subscribed->parcel);
    pthread_cond_destroy(&subscribed->left);
    pthread_mutex_destroy(&subscribed->lock);
    free(subscribed);
}

static void end(gyre_subscription *subscription)
{
    struct subscribed *subscribed = (struct subscribed *)(void *)subscription;
    pthread_mutex_lock(&subscribed->lock);
    subscribed->closing = true;
    shutdown(subscribed->socket, SHUT_RDWR); /* those who wait there return */
    while (subscribed->inside)
        pthread_cond_wait(&subscribed->left, &subscribed->lock);
    pthread_mutex_unlock(&subscribed->lock);
    free_subscribed(subscribed);
}

static const struct gyre_subscription_kind kind = {receive, look, end};

static gyre_status make(const struct gyre_subscribe_request *request, const gyre_subscribe_desc *desc,
                        struct subscribed **out)
{
    struct subscribed *subscribed = calloc(1, sizeof *subscribed);
    *out = NULL;
    if (!subscribed)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a subscription");
    subscribed->face.kind = &kind;
    subscribed->face.slow = desc->slow;
    subscribed->socket = -1;
    pthread_mutex_init(&subscribed->lock, NULL);
    pthread_cond_init(&subscribed->left, NULL);
    gyre_status status = gyre_place_find(desc->path, false, subscribed->path);
    if (status == GYRE_OK)
        status = gyre_parcel_init(&subscribed->parcel);
    if (status == GYRE_OK)
        status = meet(subscribed, request, desc);
    if (status == GYRE_OK)
        *out = subscribed;
    else
        free_subscribed(subscribed);
    return status;
}

gyre_status gyre_subscribe_attached(const char *name, const gyre_subscribe_desc *desc,
                                    gyre_subscription **out)
{
    gyre_subscribe_desc given;
    struct subscribed *made;
    struct gyre_subscribe_request request = {.capacity = 0};
    if (!name || !name[0] || !out || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_subscribe_attached", {"name", name && name[0]}, {"out", out},
                              GYRE_SIZED_OR_NULL(desc));
    *out = NULL;
    gyre_status status = gyre_subscription_read_desc("gyre_subscribe_attached", desc, &given);
    if (status != GYRE_OK)
        return status;
    if (strlen(name) >= sizeof request.name)
        return gyre_error_set(GYRE_INVALID, "no topic has a name of %zu characters", strlen(name));
    snprintf(request.name, sizeof request.name, "%s", name);
    request.slow = given.slow;
    request.capacity = given.capacity;
    given.deadline_ns = given.deadline_ns ? given.deadline_ns : gyre_in_ms(ASK_MS);
    status = make(&request, &given, &made);
    if (status == GYRE_OK)
        *out = &made->face;
    return status;
}
