/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attachment: what this program keeps of a queue whose kernel runs in a server (client.c makes it). A queue that
 * outlasts its servers (lasting.h) has two: one in front, which has no socket, and one for its queue at the present
 * server. All attachments are in one list, so that a forked child disowns its copies of the queues.
 */
#ifndef GYRE_CORE_ATTACH_ATTACHMENT_H
#define GYRE_CORE_ATTACH_ATTACHMENT_H

#include <pthread.h>

#include "core/attach/meeting.h"

struct gyre_kernel_types;

/** Which server a client reached, and whether that server refused the client. */
struct gyre_met {
    uint32_t server; /* the server's process; 0: no server was reached */
    bool refused;    /* the server refused: the error's sentence is the server's own */
    bool for_good;   /* the server will refuse every later attempt too (gyre_attach_refusal.for_good) */
};

struct gyre_attachment {
    struct gyre_attachment *next;
    gyre_queue *queue;
    int socket;
    pthread_t listener;
    bool foreign;             /* this process is a forked child: the queue is its parent's */
    bool answered;            /* a server answered, and may have made a queue for this client */
    uint64_t answered_before; /* sent to the server as gyre_attach_request.answered */
    struct gyre_met met;
    void *control;
    size_t control_size;
    struct gyre_queue_options options; /* as the server told them */
    const gyre_type *request, *reply;  /* the kernel's types */
    struct gyre_kept_block *types;     /* the memory of `request` and `reply` */
    struct gyre_kernel_types *sides;   /* the kernel's types in the form that gyre_send_as needs */
    struct gyre_parcel parcel;
};

/** Puts the attachment into the list of this program's attachments. Call before the attachment has a socket. */
void gyre_attachment_enlist(struct gyre_attachment *attachment);
/**
 * Takes the attachment out of the list and closes its socket, both under one lock, so that no forked child keeps the
 * socket.
 */
void gyre_attachment_unlist(struct gyre_attachment *attachment);
/** Sets the attachment's queue. From now on a forked child disowns this queue. */
void gyre_attachment_name(struct gyre_attachment *attachment, gyre_queue *queue);

/**
 * Attaches to one server, as gyre_attach does. Expects a descriptor of full size. Fills *met in in any case.
 * `answered`: earlier servers answered this client's requests below this index and told them durable (0: none). A
 * server whose journal does not know these requests refuses the client: INCOMPATIBLE. The caller owns *out and
 * releases it by gyre_queue_close of its queue.
 */
gyre_status gyre_attachment_make(const char *name, const gyre_attach_desc *desc, uint64_t answered,
                                 struct gyre_met *met, struct gyre_attachment **out);

#endif
