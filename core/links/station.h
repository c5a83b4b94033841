/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A station stands for a kernel of another device among the stages whose links lie in memory of this process: it takes the messages of
 * the links that lead to the kernel, sends them as requests to the kernel's queue, and settles each when the request is completed, with
 * its reply or failure. What the kernels of that device emitted meanwhile to kernels elsewhere (outlets.h) goes on from here.
 *
 * Two threads: one feeds the queue, one takes completions. Both sleep while there is nothing to do, and a feeder whose window is used
 * up leaves messages in their rings, which holds their senders up. A thread that waits for room in a ring waits for that kernel
 * alone, and holds no lock: so without cycles no station waits for itself.
 */
#ifndef GYRE_CORE_LINKS_STATION_H
#define GYRE_CORE_LINKS_STATION_H

#include <pthread.h>

#include "core/links/outlets.h"

struct gyre_pipeline_part;

/** A ring that leads to the station. The feeder alone uses it. */
struct gyre_station_inlet {
    gyre_link_ring *ring;
    gyre_control_region *sender;
    uint64_t next;
};

/** A message that the kernels of the part sent elsewhere. */
struct gyre_carried {
    struct gyre_carried *next;
    uint32_t outlet; /* its number */
    uint32_t length;
    unsigned char bytes[];
};

/** A request that is under way, by its slot. */
struct gyre_station_place {
    uint64_t origin;                    /* of the message that it was */
    struct gyre_carried *first, **last; /* what it caused elsewhere; under part->lock */
};

struct gyre_station {
    /* constant while the threads run */
    struct gyre_pipeline_part *part;
    int node;        /* of the whole pipeline */
    uint32_t number; /* of the part's stations, and of its queue among the entries of the part's pipeline */
    gyre_queue *queue;
    uint64_t capacity; /* of the queue */
    uint32_t window;   /* requests under way at most */
    struct gyre_station_inlet *inlets;
    uint32_t inlet_count, turn; /* turn: the inlet to look at first; the feeder's */
    struct gyre_station_place *places;
    size_t reply_size;
    unsigned char *replies;

    pthread_mutex_t lock;
    pthread_cond_t fed;
    uint64_t sent, returned; /* under the lock; `returned` is atomic for the feeder */
    uint64_t begun;          /* `sent`, or one more while that is being sent; under the lock */
    uint32_t broken;         /* atomic: the queue takes no more requests */
    uint64_t missed,
        doubtful; /* the returner's: what outlets missed so far; requests before this one may be what missed them */
    uint64_t refused; /* the returner's: 1 + the index of the last damaged completion; 0: none */
    uint32_t threads;
    pthread_t feeder, returner;
};

/** Where the messages of an outlet go. */
struct gyre_way {
    int *links; /* of the whole pipeline */
    uint32_t count;
};

/** The kernels of a pipeline that are of one home, whose links lie in memory that only it reaches. */
struct gyre_pipeline_part {
    struct gyre_pipeline_part *next;
    struct gyre_dispatch *home;
    gyre_pipeline *whole, *inner; /* inner: of these kernels alone */
    gyre_control_region *control; /* the first lines of one, where threads of all stations sleep */
    struct gyre_station *stations;
    uint32_t station_count;
    struct gyre_way *ways; /* of each outlet */
    struct gyre_station *
        repeating; /* whose request goes by a repeater (gyre_stations_repeat); NULL: none does. Under `lock` */
    uint32_t repeating_number;
    uint64_t repeating_index;
    pthread_mutex_t lock; /* of inner->outlets, and what stations got of them */
    uint32_t stopping;    /* atomic */
};

/** Starts the threads. EXHAUSTED. */
gyre_status gyre_station_start(struct gyre_station *station);
/**
 * Of the pipeline of a part in a worker process that died, before the next worker knows its links: what completed requests sent elsewhere
 * is kept, and what others did is dropped, since these begin again. Under pipeline->lock.
 */
gyre_status gyre_stations_renew(const gyre_pipeline *inner);
/**
 * Of such a pipeline: until gyre_stations_repeated, what says that it is of a request of entry `number` is of request `index` of the station's
 * queue `entry`, which goes by a repeater (repeaters.h). gyre_stations_repeated is called before the completion of that one is seen.
 */
void gyre_stations_repeat(const gyre_pipeline *inner, const gyre_queue *entry, uint32_t number,
                          uint64_t index);
void gyre_stations_repeated(const gyre_pipeline *inner);
/** Ends the threads of all stations, whatever is under way. */
void gyre_stations_stop(struct gyre_pipeline_part *part);
/** Frees what a station has. */
void gyre_station_finish(struct gyre_station *station);

#endif
