/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker knows of the links of its kernel (cpu_links.c). */
#ifndef GYRE_CPU_LINK_VIEW_H
#define GYRE_CPU_LINK_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/dialect/cpu_module.h"
#include "gyre/link_layout.h"

struct cpu_seat;
/** A subscriber of a topic that the kernel sends to, or a member of a pool. */
struct cpu_branch {
    const gyre_link_branch *branch;
    gyre_link_ring *ring; /* the worker's own */
    uint32_t port;
    uint32_t accepted; /* messages of the present call that the subscriber gets */
    bool in_place;     /* the handler emits into this ring */
};

/**
 * A message whose handler asked to be called again (GYRE_MORE): a copy, so that it holds no place of a ring. While there is one the
 * worker takes no other message, which would need the same room.
 */
struct cpu_kept {
    unsigned char *bytes; /* as large as a request; NULL: the kernel has no ports */
    gyre_u64 origin;
    gyre_link_ask ask;
    gyre_u32 length;
    gyre_u32 turns; /* calls so far */
    bool waits;     /* there is one */
};

/** Messages that wait for room outside of their rings (cpu_stash.h). */
struct cpu_stash {
    unsigned char *cells; /* NULL: nothing ever waited there */
    uint32_t capacity;    /* a power of two, or 0 */
    uint32_t first, count;
};

/** A worker's view of the pipeline. */
struct cpu_links {
    const gyre_link_table *table; /* NULL: the kernel is in no pipeline */
    /* of the kernel, and behind them those by which answers go back to kernels that ask it */
    gyre_cpu_port ports[GYRE_PORTS_MAX];
    uint32_t port_count;
    bool asks;         /* a port of the kernel asks */
    gyre_link_ask ask; /* of the current message; its depth is 0 when nobody in the pipeline asked for it */
    gyre_link_ring *rings[GYRE_PORTS_MAX]; /* the worker's own; NULL: the port has no link */
    struct cpu_kept kept;
    struct cpu_stash stash;
    bool drains; /* an inlet is by key and part of a cycle: the worker empties it while it has no room */
    struct cpu_branch branches[GYRE_BRANCHES_MAX];
    uint32_t branch_count;
    bool
        heard; /* a program subscribed to a topic that the kernel sends to: bytes that the handler leaves out are zero */
    unsigned char *reply; /* room for one reply */
    /*
     * as that of a flow, for a message of none: of a link, and of a queue that enters no pipeline; NULL: the kernel's flows have
     * none
     */
    unsigned char *memory, *outside;
    unsigned char *thrown; /* room for what one call emits to a port without a link; NULL: no ports */
    uint64_t completed;    /* a bit for each entry queue whose client may wait for a bell */
    uint32_t sent;         /* a bit for each port whose target may wait for a bell */
    uint32_t rung_ports;   /* of these, who was woken already in this run */
    uint64_t sent_branches, rung_branches; /* the same of subscribers of topics */
    uint64_t rung_entries;
    uint64_t rung_ns;      /* when somebody was woken last during a run */
    uint32_t turns;        /* turns that found messages in links */
    struct cpu_seat *seat; /* the worker's own (cpu_seat.h); NULL: it is paused, or in no pipeline */
    struct cpu_seat *targets[GYRE_PORTS_MAX]; /* of the port's target, its first block's; NULL: not known */
    bool pools;                               /* the kernel is a member of a pool */
    gyre_u32 rounds; /* 1 + the port by which rounds of a flow begin; 0: the pipeline has none */
    uint32_t
        begin; /* of such a kernel, and of one whose links have levels: the inlet that is served first, another one each turn */
    uint32_t levels;      /* a bit for each level that its inlets have; 0: all have the same one */
    uint32_t level_turns; /* runs that were taken by levels */
    bool fed_by_links; /* and not by queues: where the last messages of the worker's own thread came from */
    uint32_t runs;     /* that were or were not measured */
    uint32_t
        calls; /* of the handler, and after it: each has gyre_control_block.working differ from the last one */
    uint32_t cost_ns; /* of a message, as measured of late */
    uint32_t
        visits; /* a bit for each port whose target sleeps and got something, and is visited in place of being woken */
};

#endif
