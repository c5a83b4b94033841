/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ends of links that lead from kernels of a part (apart.h) to other devices: rings in memory of the sender's device, which its
 * kernels fill as those of a tap, and which the host reads by copies. A tap holds nobody up and its messages belong to no flow:
 * so the part's requests are limited to as many as have room for all that they may emit, and what a request emitted is read when
 * it is completed.
 *
 * Under part->lock, except what is constant.
 */
#ifndef GYRE_CORE_LINKS_OUTLETS_H
#define GYRE_CORE_LINKS_OUTLETS_H

#include "core/links/pipeline.h"

/** A port that leads to other devices. Constant. */
struct gyre_outlet {
    int node; /* of the part's pipeline */
    uint32_t port;
    uint32_t place;        /* which memory it lies in */
    uint32_t first, count; /* its rings: one for each block of the kernel */
    uint32_t stride;
    uint64_t capacity;
};

struct gyre_outlet_ring {
    uint64_t slots; /* where its slots lie in the place */
    uint64_t next;  /* the message to read next */
    uint64_t fetched[GYRE_LINK_SECTIONS];
};

/** Memory of one of the part's devices: another one's stores might come behind the completion of what they belong to. */
struct gyre_outlet_place {
    struct gyre_dispatch *device;
    struct gyre_link_store store; /* the rings, then their slots */
    uint32_t first, count;        /* the rings */
    uint64_t bytes;
};

struct gyre_outlets {
    struct gyre_outlet_place *places;
    uint32_t place_count;
    struct gyre_outlet *each;
    uint32_t count;
    struct gyre_outlet_ring *rings;
    uint32_t ring_count;
    uint64_t missed;      /* messages that found no room */
    uint64_t missed_then; /* those of worker processes that died */
    uint64_t lost;        /* those that `take` could not keep */
    gyre_link_ring *seen; /* room for a copy of all rings */
    unsigned char *bytes; /* room for a copy of the slots of one ring */
};

/** Called for each message. `slot`: a copy, with its payload. */
typedef void gyre_outlet_take(void *context, const struct gyre_outlet *outlet, const gyre_link_slot *slot);

/** Makes the rings of `count` outlets, whose node, port and capacity are set. Takes over `each`. Owner of *out: the caller. */
gyre_status gyre_outlets_make(const gyre_pipeline *part, struct gyre_outlet *each, uint32_t count,
                              struct gyre_outlets **out);
void gyre_outlets_free(struct gyre_outlets *outlets);
/**
 * Of a part in a worker process: clears the rings for the next worker, and tells where that sees them. What the last one sent was read
 * before.
 */
gyre_status gyre_outlets_renew(struct gyre_outlets *outlets);
/** Hands over every message that is there. Each that a request emitted is, once that is completed. */
gyre_status gyre_outlets_read(struct gyre_outlets *outlets, gyre_outlet_take *take, void *context);

/** 1 when the port has an outlet. */
uint32_t gyre_outlets_count(const gyre_pipeline *part, int node, uint32_t port);
/** Writes the branch that leads to the outlet of the port, if it has one. Returns how many. */
uint32_t gyre_outlets_write(const gyre_pipeline *part, int node, uint32_t port, gyre_link_branch *branches);

#endif
