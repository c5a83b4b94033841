/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's side of an attachment: attaches to a server and makes a queue on the memory that the server made.
 * Requests and replies go through the same code as inside one program. A thread listens to the server's packets.
 *
 * Lock: list_lock for the list of this program's attachments and for their sockets and queues. An attachment is in
 * the list before it has a socket. The lock is held across fork, so that a forked child disowns its copies. This
 * program can only read the queue's control region; the server rings the kernel's doorbell.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/attach/attachment.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/kernel/protocol.h"
#include "core/plan/queue_types.h"
#include "core/queue/convert.h"
#include "core/queue/end.h"
#include "core/queue/life.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/ring/region.h"
#include "core/stages/make.h"

enum { ATTACH_MS = 5000, TRY_DOUBLINGS = 4 };
/* the first pause before a server without room is asked again; later pauses grow to 16 times this */
#define TRY_AGAIN_NS UINT64_C(5000000)
#define LEAVE_NS     UINT64_C(1000000000)

/* ---- fork ---- */

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static struct gyre_attachment *attachments;

static void before_fork(void)
{
    pthread_mutex_lock(&list_lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&list_lock);
}

static void in_child(void)
{
    for (struct gyre_attachment *attachment = attachments; attachment; attachment = attachment->next) {
        attachment->foreign = true;
        if (attachment->queue)
            gyre_queue_disown(attachment->queue);
        if (attachment->socket >= 0)
            close(attachment->socket); /* or the server would never see the parent go */
    }
    attachments = NULL;
    pthread_mutex_unlock(&list_lock);
}

static void prepare(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

void gyre_attachment_enlist(struct gyre_attachment *attachment)
{
    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&list_lock);
    attachment->next = attachments;
    attachments = attachment;
    pthread_mutex_unlock(&list_lock);
}

void gyre_attachment_unlist(struct gyre_attachment *attachment)
{
    pthread_mutex_lock(&list_lock);
    struct gyre_attachment **link = &attachments;
    while (*link && *link != attachment)
        link = &(*link)->next;
    if (*link)
        *link = attachment->next;
    if (attachment->socket >= 0)
        close(attachment->socket);
    pthread_mutex_unlock(&list_lock);
}

void gyre_attachment_name(struct gyre_attachment *attachment, gyre_queue *queue)
{
    pthread_mutex_lock(&list_lock);
    attachment->queue = queue;
    pthread_mutex_unlock(&list_lock);
}

/* ---- the listener ---- */

/* Does what the server's packet says. Returns whether the server will send more packets. */
static bool hear(gyre_queue *queue, const struct gyre_parcel *parcel)
{
    gyre_queue_close_sends(queue);
    if (gyre_parcel_operation(parcel) == GYRE_PARCEL_SHUT)
        return true;
    if (gyre_parcel_status(parcel) == GYRE_OK)
        /* completes requests that were sent before SHUT arrived, and that the server did not take any more */
        gyre_queue_complete_unhandled(queue);
    else
        gyre_queue_orphan(queue);
    return false;
}

static void *listen_to_server(void *argument)
{
    struct gyre_attachment *attachment = argument;
    gyre_status status = GYRE_OK;
    bool more = true;
    while (more) {
        status = gyre_parcel_receive(&attachment->parcel, attachment->socket, GYRE_FOREVER);
        more = status == GYRE_OK ? hear(attachment->queue, &attachment->parcel) : status == GYRE_TIMEOUT;
    }
    if (status != GYRE_OK)
        gyre_queue_orphan(attachment->queue);
    return NULL;
}

/* ---- the end ---- */

/*
 * Hangs up, and waits until the server has hung up too: then the client's place and name are free for the next
 * client.
 */
static void take_leave(int socket)
{
    struct pollfd server = {.fd = socket}; /* poll reports a hang-up without being asked for it */
    uint64_t now = gyre_clock_ns(), end = now + LEAVE_NS;
    shutdown(socket, SHUT_WR);
    for (int ended = 0; now < end && ended <= 0; now = gyre_clock_ns()) {
        const struct timespec left = gyre_clock_timespec(end - now);
        ended = ppoll(&server, 1, &left, NULL);
    }
}

/* Frees an attachment, also one that is made only in part. No thread listens to the server by now. */
static void release(struct gyre_attachment *attachment)
{
    if (attachment->answered)
        take_leave(attachment->socket);
    gyre_attachment_unlist(attachment);
    gyre_queue_destroy(attachment->queue);
    if (attachment->control)
        munmap(attachment->control, attachment->control_size);
    gyre_kernel_types_destroy(attachment->sides);
    gyre_kept_release(&attachment->types);
    gyre_parcel_finish(&attachment->parcel);
    free(attachment);
}

static void detach(gyre_queue *queue)
{
    struct gyre_attachment *attachment = gyre_foreign_of(queue)->attachment;
    if (attachment->foreign)
        return;
    take_leave(attachment->socket);
    shutdown(attachment->socket, SHUT_RDWR); /* the listener's wait ends, whatever the server does */
    pthread_join(attachment->listener, NULL);
    release(attachment);
}

/* ---- the meeting ---- */

static gyre_status map_control(struct gyre_attachment *attachment, int descriptor, uint64_t size)
{
    gyre_status status = gyre_region_check("the server's control region", descriptor, (size_t)size);
    if (status != GYRE_OK)
        return status;
    attachment->control_size = (size_t)size;
    attachment->control = mmap(NULL, attachment->control_size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (attachment->control != MAP_FAILED)
        return GYRE_OK;
    attachment->control = NULL;
    return gyre_error_set(GYRE_EXHAUSTED, "cannot map the kernel's control region: %s", strerror(errno));
}

/*
 * Decides how the caller's messages are converted to the kernel's types. The server has found the conversion
 * possible.
 */
static gyre_status choose_growth(struct gyre_attachment *attachment, const gyre_attach_desc *desc,
                                 struct gyre_queue_options *options)
{
    gyre_status status = gyre_queue_check_caller(attachment->request, desc->request,
                                                 &options->caller_request_size, &options->request_growth);
    if (status == GYRE_OK)
        status = gyre_queue_check_caller(attachment->reply, desc->reply, &options->caller_reply_size,
                                         &options->reply_growth);
    return status;
}

/*
 * Lets the caller send and receive its own types, where one of the two protocols (the caller's, the kernel's) extends
 * the other.
 */
static gyre_status choose_sides(struct gyre_attachment *attachment, const char *kernel,
                                const struct gyre_queue_options *options)
{
    struct gyre_kernel_types *own = NULL;
    gyre_status status =
        gyre_kernel_types_create(kernel, attachment->request, attachment->reply, &attachment->sides);
    if (status == GYRE_OK)
        status = gyre_kernel_types_create_grown(attachment->sides, &options->request_growth,
                                                &options->reply_growth, &own);
    if (!own)
        return status;
    gyre_kernel_types_destroy(attachment->sides);
    attachment->sides = own;
    return status;
}

static void keep_queue(struct gyre_attachment *attachment, gyre_queue *queue, int doorbell)
{
    gyre_foreign_for(queue)->doorbell = doorbell;
    gyre_kernel_types_name(attachment->sides, queue);
    gyre_attachment_name(attachment, queue);
}

/*
 * Checks that the doorbell is a file without a type, as an eventfd is: a write to a pipe or a socket may end this
 * program by SIGPIPE, and a write to a file would change it.
 */
static gyre_status check_doorbell(int descriptor)
{
    struct stat about;
    if (fstat(descriptor, &about) == 0 && (about.st_mode & S_IFMT) == 0)
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID,
                          "the server's doorbell: expected an eventfd, found a file of another kind");
}

static gyre_status adopt(struct gyre_attachment *attachment, const char *kernel, const gyre_attach_desc *desc,
                         struct gyre_attach_answer *answer, const int descriptors[3])
{
    gyre_queue *queue = NULL;
    gyre_status status = check_doorbell(descriptors[2]);
    if (status == GYRE_OK)
        status = map_control(attachment, descriptors[1], answer->control_size);
    attachment->request = answer->request;
    attachment->reply = answer->reply;
    attachment->types = answer->types;
    answer->types = NULL;
    attachment->options = answer->options;
    answer->options.control = attachment->control;
    if (status == GYRE_OK)
        status = choose_growth(attachment, desc, &answer->options);
    if (status == GYRE_OK)
        status = choose_sides(attachment, kernel, &answer->options);
    if (status == GYRE_OK)
        status = gyre_queue_create_at(&answer->options, descriptors[0], &queue);
    if (status != GYRE_OK) {
        gyre_queue_growth_finish(&answer->options.request_growth);
        gyre_queue_growth_finish(&answer->options.reply_growth);
        return status;
    }
    keep_queue(attachment, queue, descriptors[2]);
    return GYRE_OK;
}

/* Reads the server's answer: a refusal becomes an error with the server's sentence, else the queue is made. */
static gyre_status take_answer(struct gyre_attachment *attachment, const char *kernel,
                               const gyre_attach_desc *desc)
{
    struct gyre_parcel *parcel = &attachment->parcel;
    struct gyre_attach_answer answer = {.types = NULL};
    int descriptors[3];
    gyre_status status = gyre_parcel_status(parcel);
    if (status != GYRE_OK) {
        const struct gyre_attach_refusal refusal = gyre_attach_refusal_get(parcel);
        attachment->met.refused = true;
        attachment->met.for_good = refusal.for_good;
        gyre_error_set(status, "%s", refusal.why);
        if (status == GYRE_EXHAUSTED)
            return gyre_error_add(status, "the server"); /* not this program */
        return status == GYRE_INVALID && desc->client ? gyre_error_add(status, "client '%s'", desc->client)
                                                      : status;
    }
    status = gyre_attach_answer_get(parcel, &answer);
    for (int i = 0; i < 3; i++)
        descriptors[i] = gyre_parcel_take_descriptor(parcel);
    if (status == GYRE_OK && parcel->broken)
        status = gyre_error_set(GYRE_INTERNAL, "the server answered without the queue's memory");
    if (status == GYRE_OK)
        status = adopt(attachment, kernel, desc, &answer, descriptors);
    for (int i = 0; i < 3; i++)
        if (descriptors[i] >= 0 && !(i == 2 && attachment->queue))
            gyre_parcel_close_received(descriptors[i]);
    gyre_kept_release(&answer.types);
    return status;
}

static gyre_status tell_unanswered(const char *path, gyre_status status)
{
    if (status == GYRE_TIMEOUT)
        return gyre_error_set(status,
                              "the server at %s did not answer: timeout; is it stopped, or another program "
                              "than `gyre serve`?",
                              path);
    if (status == GYRE_LOST)
        return gyre_error_set(
            status,
            "the server at %s hung up: it ended, or has no room for one more program, which its "
            "log says then",
            path);
    if (status == GYRE_INTERNAL)
        return gyre_error_set(
            status,
            "the program at %s answered with what is no message of Gyre: name the socket of "
            "a `gyre serve`",
            path);
    return gyre_error_add(status, "the answer of the server at %s", path);
}

static gyre_status open_socket(struct gyre_attachment *attachment)
{
    pthread_mutex_lock(&list_lock);
    gyre_status status = gyre_place_socket(&attachment->socket);
    pthread_mutex_unlock(&list_lock);
    return status;
}

/* The process at the other end of the socket. */
static uint32_t process_of(int socket)
{
    struct ucred who = {0};
    socklen_t size = sizeof who;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 ? (uint32_t)who.pid : 0;
}

/* Asks the server once. *again: the server has no room at this moment. */
static gyre_status ask(struct gyre_attachment *attachment, const char *path, const char *name,
                       const gyre_attach_desc *desc, uint64_t deadline_ns, bool *again)
{
    struct gyre_parcel *parcel = &attachment->parcel;
    *again = attachment->met.refused = attachment->met.for_good = false;
    gyre_status status = open_socket(attachment);
    if (status == GYRE_OK)
        status = gyre_place_connect(path, deadline_ns, attachment->socket);
    if (status == GYRE_OK)
        attachment->met.server = process_of(attachment->socket);
    if (status != GYRE_OK)
        return status;
    gyre_attach_request_put(parcel, name, desc, attachment->answered_before);
    status = gyre_parcel_send(parcel, attachment->socket, deadline_ns);
    if (status == GYRE_OK)
        status = gyre_parcel_receive(parcel, attachment->socket, deadline_ns);
    attachment->answered = status != GYRE_TIMEOUT;
    *again = status == GYRE_LOST || (status == GYRE_OK && gyre_parcel_status(parcel) == GYRE_EXHAUSTED);
    return status == GYRE_OK ? take_answer(attachment, name, desc) : tell_unanswered(path, status);
}

/* Waits until the next try is due, or until the deadline. */
static void wait_outside(struct gyre_attachment *attachment, int tries, uint64_t deadline_ns)
{
    const uint64_t now = gyre_clock_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
    const uint64_t nap = TRY_AGAIN_NS << (tries < TRY_DOUBLINGS ? tries : TRY_DOUBLINGS);
    const struct timespec pause = gyre_clock_timespec(nap < left ? nap : left);
    pthread_mutex_lock(&list_lock);
    close(attachment->socket);
    attachment->socket = -1;
    pthread_mutex_unlock(&list_lock);
    attachment->answered = false;
    nanosleep(&pause, NULL);
}

/*
 * Asks a server that has no room, or that hangs up, again until the deadline: another client may leave, or a silent
 * one be hung up. The error at the deadline is the server's last refusal, or that it hung up, also when the server
 * has gone since.
 */
static gyre_status meet(struct gyre_attachment *attachment, const char *name, const gyre_attach_desc *desc)
{
    char path[GYRE_PLACE_MAX], why[512];
    const uint64_t deadline = desc->deadline_ns ? desc->deadline_ns : gyre_in_ms(ATTACH_MS);
    bool again = false;
    gyre_status status = gyre_place_find(desc->path, false, path);
    if (status == GYRE_OK)
        status = gyre_parcel_init(&attachment->parcel);
    if (status == GYRE_OK)
        status = ask(attachment, path, name, desc, deadline, &again);
    for (int tries = 0; again && gyre_clock_ns() < deadline; tries++) {
        const gyre_status before = status;
        const struct gyre_met met = attachment->met;
        snprintf(why, sizeof why, "%s", gyre_error_text());
        wait_outside(attachment, tries, deadline);
        status = ask(attachment, path, name, desc, deadline, &again);
        if (status == GYRE_UNAVAILABLE || status == GYRE_TIMEOUT) {
            attachment->met = met;
            return gyre_error_set(before, "%s", why);
        }
    }
    return gyre_error_add_overdue(status, deadline);
}

static gyre_status start(struct gyre_attachment *attachment)
{
    gyre_queue *queue = attachment->queue;
    gyre_foreign_for(queue)->attachment = attachment;
    gyre_foreign_for(queue)->detach = detach;
    return gyre_thread_need(&attachment->listener, listen_to_server, attachment, "for an attached queue");
}

gyre_status gyre_attachment_make(const char *name, const gyre_attach_desc *desc, uint64_t answered,
                                 struct gyre_met *met, struct gyre_attachment **out)
{
    struct gyre_attachment *attachment = calloc(1, sizeof *attachment);
    *out = NULL;
    *met = (struct gyre_met){.server = 0};
    if (!attachment)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for an attached queue");
    attachment->socket = -1;
    attachment->answered_before = answered;
    gyre_attachment_enlist(attachment);
    gyre_status status = meet(attachment, name, desc);
    *met = attachment->met;
    if (status == GYRE_OK)
        status = start(attachment);
    if (status == GYRE_OK)
        *out = attachment;
    else
        release(attachment);
    return status;
}
