/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object of a kernel that can be a stage of a pipeline (gyre/link_layout.h has the protocol of links). The pump of such a
 * kernel puts each epoch together from links and queues, one epoch at a time. It copies each message into a cell of a stage, with
 * its flow and its header. The kernel leaves its reply in another cell, and what it emitted behind it. When the epoch has ended,
 * the pump settles the messages in their order: it counts flows, moves what was emitted to the rings of links, and completes
 * requests. All memory of links is the host's (GYRE_LINKING_HOST). The pump alone moves messages of its kernel, so a kernel has one
 * ring for each link, whatever blocks it has.
 *
 * The files, from the ground up: opencl_ports.c, opencl_flow.c, opencl_flow_memory.c, opencl_columns.c,
 * opencl_kept.c, opencl_fetch.c, opencl_times.c, opencl_links.c; each calls only files before it. Once the pump runs, the object belongs to it.
 */
#ifndef GYRE_OPENCL_LINKED_H
#define GYRE_OPENCL_LINKED_H

#include "backends/opencl/epochs/opencl_epoch.h"
#include "backends/opencl/epochs/opencl_times.h"

/** A port of the kernel, and where it leads now. Behind the declared ones stand those by which answers go back to askers. */
struct opencl_port {
    uint32_t most, size, least, stride; /* messages of one call; bytes of a message; from place to place */
    gyre_u64 place; /* bytes from a reply's slot to the first place; not of a port for answers */
    bool asks;
    const gyre_link_port *wired; /* NULL: nowhere, without a link */
    gyre_link_ring *ring;        /* NULL: nobody fetches what is emitted */
    bool sent;                   /* the target may wait for a bell */
};

/** A subscriber of a topic that the kernel sends to, or a member of a pool. */
struct opencl_branch {
    const gyre_link_branch *branch;
    gyre_link_ring *ring;
    uint32_t port;
    uint32_t accepted; /* messages of the call that is being settled that the subscriber gets */
    bool sent;         /* the subscriber may wait for a bell */
};

/** A message of the present epoch. */
struct opencl_message {
    bool in_flow;    /* else it is a request of `queue`, which enters no pipeline, and of no flow */
    gyre_u64 origin; /* as in a link; without SOLE also while nothing else of the flow came by a link yet */
    struct opencl_queue *queue;  /* without a flow: the queue that it came in */
    gyre_u64 serial, index;      /* of that queue, and of the request in it */
    bool lost;                   /* there is none, or nobody waits for it any more */
    bool again;                  /* its handler wants to be called again with it */
    uint32_t turn;               /* how often it was called before */
    uint32_t block;              /* of columns: whose it is */
    gyre_link_ask ask;           /* its depth is 0 when nobody in the pipeline asked for the message */
    const unsigned char *memory; /* of one of no flow that is handled again: what it left there; else NULL */
};

/**
 * Messages that are handled once more, or later than they were taken: their handlers returned GYRE_MORE, or stood behind such a one.
 * A copy of each cell, in their order.
 */
struct opencl_kept {
    unsigned char *bytes;
    struct opencl_message *messages;
    uint32_t first, count, capacity;
    bool seen; /* the kernel did return GYRE_MORE: from then on a block takes one message at a time */
};

/** The memory of flows at this kernel, for the messages of an epoch: behind the cells of the replies. */
struct opencl_flow_memory {
    uint32_t size, stride; /* bytes of the kernel's own; from place to place, 0: the file has no GYRE_FLOW */
    gyre_u64 at;           /* bytes from the first reply's cell to the first place */
    uint32_t count;        /* places in use */
    struct opencl_flow_home *homes;
    uint32_t home_count; /* a power of two */
};

/** The links of a kernel, and the messages that are under way in it. */
struct opencl_links {
    const gyre_link_table *table; /* NULL: the kernel is in no pipeline */
    struct opencl_port ports[GYRE_PORTS_MAX];
    uint32_t port_count, declared; /* with ports for answers; without */
    uint32_t rounds; /* 1 + the port by which rounds of a flow begin; 0: the pipeline has none */
    struct opencl_branch branches[GYRE_BRANCHES_MAX];
    uint32_t branch_count;
    bool heard;            /* a program subscribed to a topic that the kernel sends to */
    gyre_cell_places told; /* where everything lies in the cells */
    uint32_t request_cell, reply_cell,
        room;                        /* bytes of the cells of a message; messages of an epoch at most */
    struct opencl_message *messages; /* one for each cell */
    uint32_t *depths;                /* of a kernel whose blocks share by key: cells of each block in use */
    uint32_t rows; /* and how many cells of each block the epoch may have; 0: no keys decide */
    /* while an epoch is put together: messages that were taken, and the cell of the next one */
    uint32_t taken, next;
    bool full; /* there was no cell for a message */
    /* of the epoch's cells `count` are in use, and the first `settled` of them are done with */
    uint32_t count, settled;
    bool foreign;   /* other programs see what these messages cause, so the reply cells were zeroed */
    uint32_t turns; /* epochs that were put together */
    bool levels;    /* its inlets have different levels */
    struct opencl_kept kept;
    struct opencl_flow_memory memory;
    struct opencl_timed timed;
};

#endif
