/* SPDX-License-Identifier: Apache-2.0 */
/* A collective that is under way (gyre/collect.h): who takes part, with which bytes, and what is computed. One thread's. */
#ifndef GYRE_CORE_API_COLLECTING_H
#define GYRE_CORE_API_COLLECTING_H

#include "core/kernel/named_buffer.h"
#include "core/kernel/standing.h"
#include "core/types/fold.h"
#include "gyre/collect.h"

/** From so many bytes of each part on devices combine by themselves, if they can; for fewer, two steps of theirs take longer than two copies. */
enum { GYRE_COLLECT_DEVICES_FROM = 4 << 10 };

enum gyre_collecting_kind { GYRE_COLLECTING_REDUCE, GYRE_COLLECTING_COPY, GYRE_COLLECTING_FETCH };

struct gyre_collecting_part {
    struct gyre_standing standing;
    struct gyre_named_buffer named;
    bool gets;    /* the result is written into its buffer */
    bool covered; /* a worker process that follows brings the buffer back (gyre_standing_covers) */
    bool written; /* some of the result may be in its buffer */
    unsigned char
        *place; /* its elements, in memory of this process, which takes what is written; NULL: elsewhere */
    unsigned char *before;            /* what its elements were; NULL with `place` */
    struct gyre_collect_aside *aside; /* the same on the device, where devices combine; else NULL */

    /* of the thread that copies them (collect_copy.c); the first under `lock` of the collective */
    uint64_t moved;
    gyre_status status;
    char why[512];
};

struct gyre_collecting {
    const char *call; /* "gyre_all_reduce" */
    const char *buffer;
    enum gyre_collecting_kind kind;
    gyre_collect_element element;
    enum gyre_fold_rule rule; /* of REDUCE */
    uint32_t root;            /* of COPY: whose bytes */
    unsigned char *items;     /* of FETCH: where all go, ... */
    size_t items_size;        /* and the room there */
    uint64_t deadline_ns;

    uint32_t count;
    struct gyre_collecting_part parts[GYRE_COLLECT_PARTS_MAX];
    struct gyre_standing
        *order[GYRE_COLLECT_PARTS_MAX]; /* in which they are made to stand: the same for all threads */
    uint64_t first, wanted;             /* elements, as the caller gave them */
    uint64_t offset, bytes;             /* of each buffer: where its elements begin, and how long they are */
    gyre_scalar scalar;
    unsigned char *result; /* whole; of a chunk when all parts have their place in this process */
    bool in_place;         /* all have */
    bool devices_ready;    /* `devices` can combine by themselves (collect_devices.c) */
    struct gyre_dispatch *devices[GYRE_COLLECT_PARTS_MAX]; /* where the kernels were when these were asked */

    struct gyre_collect_room *room; /* of the result, and of what was before */
};

#endif
