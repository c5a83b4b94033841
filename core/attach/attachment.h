/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of this program that a server has the other end of (client.c); or one that stands in front of such queues, one
 * server's after the other's (lasting.h), which has no socket of its own. All of them are in one list, so that a forked
 * child's copies are disowned.
 */
#ifndef GYRE_CORE_ATTACH_ATTACHMENT_H
#define GYRE_CORE_ATTACH_ATTACHMENT_H

#include <pthread.h>

#include "core/attach/meeting.h"

struct gyre_kernel_types;

/** Who was met, and how that went. */
struct gyre_met {
    uint32_t server; /* the process that serves there; 0: nobody was reached */
    bool refused;    /* the error's sentence is the server's own */
    bool for_good;   /* and it will say so each time: of gyre_attach_refusal */
};

struct gyre_attachment {
    struct gyre_attachment *next;
    gyre_queue *queue;
    int socket;
    pthread_t listener;
    bool foreign;             /* of a forked child's parent */
    bool answered;            /* by a server, which may have made a queue for it */
    uint64_t answered_before; /* what its client says then: of gyre_attach_request */
    struct gyre_met met;
    void *control;
    size_t control_size;
    struct gyre_queue_options options; /* as the server told them */
    const gyre_type *request, *reply;  /* the kernel's */
    struct gyre_kept_block *types;
    struct gyre_kernel_types *sides; /* the same, as gyre_send_as needs them */
    struct gyre_parcel parcel;
};

/** Into the list, before it has a socket. */
void gyre_attachment_enlist(struct gyre_attachment *attachment);
/** Out of it. Closes its socket, so that no child has that without closing it. */
void gyre_attachment_unlist(struct gyre_attachment *attachment);
/** Its queue, which a forked child disowns from now on. */
void gyre_attachment_name(struct gyre_attachment *attachment, gyre_queue *queue);

/**
 * One meeting; as gyre_attach, of a descriptor whose members are all there. *met is filled in in any case. `answered`: requests of this client below were answered, and told durable, by servers
 * before (0: none), and a server whose journal does not know them refuses it: INCOMPATIBLE. Owner of *out: the caller, by gyre_queue_close of its queue.
 */
gyre_status gyre_attachment_make(const char *name, const gyre_attach_desc *desc, uint64_t answered,
                                 struct gyre_met *met, struct gyre_attachment **out);

#endif
