/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One shard that a member owns: a thread takes it, restores it, handles its requests, keeps checkpoints and gives it back.
 *
 * Steps, and the function of shard.c, shard_work.c or shard_checkpoint.c that makes each:
 *
 *   awaiting -- await_place: the kernel is launched, offer.SHARD says so, and the owner is about to give the shard back in order (else this step is
 *               left out)
 *   taking   -- take_place: the place by compare-and-set, one epoch later
 *            -- gyre_kept_begin: the fence, and the last checkpoint
 *            -- launch: the kernel with that state
 *   working  -- gyre_shard_work: blocks of in.SHARD behind the checkpoint, in order; replies; checkpoints
 *   ended    -- give_back: a checkpoint, then the place; after a failure neither: the next owner goes on from the last checkpoint
 */
#ifndef GYRE_CORE_CLUSTER_SHARD_H
#define GYRE_CORE_CLUSTER_SHARD_H

#include <pthread.h>

#include "core/cluster/kept.h"
#include "core/cluster/place.h"
#include "core/cluster/reading.h"
#include "core/cluster/reply_window.h"
#include "core/cluster/site.h"
#include "core/cluster/trial.h"
#include "gyre/cluster.h"
#include "gyre/waiting.h"

enum { GYRE_SHARD_AT_ONCE_MAX = 64 }; /* requests that go to the kernel together */

enum gyre_shard_step {
    GYRE_SHARD_TAKING = 1,
    GYRE_SHARD_WORKING = 2,
    GYRE_SHARD_ENDED = 3,
    GYRE_SHARD_AWAITING = 4
};

enum gyre_shard_stop_way {
    GYRE_SHARD_STOP = 1,
    GYRE_SHARD_HAND_OVER = 2 /* to a member that has read the last checkpoint: shard_handover.h asks for it */
};

/** Of a hand-over that is being prepared (shard_handover.h). */
struct gyre_handover {
    uint64_t begin_ns, look_ns; /* when it began, and when the last look at the offer was */
    uint64_t told,
        told_ns;      /* what its place says last of the blocks that it handled, and since when; 0: nothing */
    uint64_t rounds;  /* how often it said so, */
    bool is_followed; /* and the awaiting member has handled as much */
};

struct gyre_shard {
    struct gyre_site *site;
    uint32_t number;
    pthread_t thread;
    uint32_t stop; /* atomic, an enum gyre_shard_stop_way: give the shard back */
    uint32_t step; /* atomic: an enum gyre_shard_step, written by the thread */
    bool
        hands_over; /* atomic: a member awaits the shard, by order; the thread takes it back when it does not any more */
    gyre_status status; /* how it ended; read after the step is ENDED */
    char why[256];      /* and the sentence */
    uint64_t taken_ns;
    uint64_t lapses; /* of the site, when the shard was taken */
    bool
        is_second; /* taken because the member that should own it could not take it; the member's thread's own */
    bool awaits;    /* begins by awaiting; constant */
    bool was_taken; /* the place said that it is this member's; read after the step is ENDED */
    struct gyre_shard_helper *helper; /* helper.h; NULL: `thread` was left, so nobody joins it */
    /* the member's thread's own: the ender (helper.h), and the time at which a handler that does not return is given up; 0: not known yet */
    pthread_t ender;
    bool has_ender;
    bool ends_in_vain; /* atomic; the ender sets it when the handler has returned before it */
    uint64_t give_up_ns;

    /* the thread's own */
    struct gyre_shard_place place;
    struct gyre_kept kept;
    struct gyre_trial trial;
    bool has_crashed;  /* the kernel was lost with a request; read after the step is ENDED */
    uint64_t owned_ns; /* awaiting: when the last look began that found the shard with its owner */
    struct gyre_handover handover;
    bool tells_work; /* the place does not say yet that the shard works, and how long a hand-over took */
    gyre_kernel *kernel;
    gyre_queue *queue;
    bool helps;                       /* this thread handles the requests of the present block itself */
    bool cannot_help;                 /* the kernel's device handles requests by its own threads only */
    char log[GYRE_CLUSTER_NAME_SIZE]; /* in.SHARD */
    uint64_t position;                /* the last block of it that was handled */
    uint64_t since;                   /* requests since the last checkpoint */
    uint64_t unpurged;                /* blocks since the last purge */
    uint64_t checkpoint_ns;           /* when that was kept, */
    uint64_t checkpoint_cost_ns;      /* and how long it took, */
    uint64_t writing_ns;              /* and so far takes the one that is being written */
    uint64_t busy_ns; /* how long the requests since then took, which the next owner would handle again, */
    uint64_t publishing_ns; /* without this, which has been spent on publishing replies */
    uint64_t loaded;        /* awaiting: the number of the checkpoint that the kernel has; 0: none, */
    uint64_t told;          /* and of the one that the offer says, */
    uint64_t told_position; /* and the position that it says */
    bool
        follows; /* awaiting: the kernel is active, and handles what the owner has handled; nothing is published */
    uint64_t unfinished;                       /* following: requests in the kernel's queue */
    uint64_t followed_from;                    /* kept.applied then */
    struct gyre_reading reading;               /* of that log */
    unsigned char *requests, *replies, *reply; /* a block each; `at_once` replies */
    unsigned char *chunk;                      /* `at_once` requests, one behind the other */
    size_t request_size, reply_size;
    uint64_t at_once; /* requests that go to the kernel together */
    uint64_t table_size;
    uint64_t under_way; /* requests in the kernel's queue at a time */
    size_t replies_at;  /* bytes of the block of replies that are filled */
    uint32_t replies_count;
    unsigned char replies_of[GYRE_CLIENT_ID_SIZE]; /* whose they are */
    uint64_t replies_ns;                           /* when the first of them was added, */
    uint64_t replies_first;                        /* and its number */
    struct gyre_reply_window window;               /* blocks of replies that are under way */
    bool has_deaf;                           /* a client whose replies could not be published in time, */
    unsigned char deaf[GYRE_CLIENT_ID_SIZE]; /* and which: its replies are tried once from then on */
};

/**
 * Starts the shard's thread. `place`: as it was read; nobody alive owns it, or with `awaits` its owner is about to give it back. A shard that
 * awaited in vain ends with OK, and was_taken is false.
 */
gyre_status gyre_shard_start(struct gyre_site *site, uint32_t number, const struct gyre_shard_place *place,
                             bool awaits, struct gyre_shard **out);
/** Asks the shard to be given back. Does not wait. */
void gyre_shard_stop(struct gyre_shard *shard, enum gyre_shard_stop_way way);
/**
 * Now and then: a shard whose thread is in a handler (helper.h) that has been running for long, and that has to be given up, because its
 * lease ran out, or because it is to be given back and `reach_ms` are over, is ended by another thread, as one whose handler does not return.
 */
void gyre_shard_look_after(struct gyre_shard *shard);
/** Waits until the thread has ended, and frees the shard. */
void gyre_shard_join(struct gyre_shard *shard);
static inline enum gyre_shard_step gyre_shard_step_of(struct gyre_shard *shard)
{
    return (enum gyre_shard_step)__atomic_load_n(&shard->step, __ATOMIC_ACQUIRE);
}
/** Whether no other member may own the shard yet. */
static inline bool gyre_shard_has_lease(const struct gyre_shard *shard)
{
    return gyre_site_kept_lease(shard->site, shard->lapses, gyre_clock_ns());
}
static inline bool gyre_shard_hands_over(const struct gyre_shard *shard)
{
    return __atomic_load_n(&shard->hands_over, __ATOMIC_RELAXED);
}
static inline void gyre_shard_set_hands_over(struct gyre_shard *shard, bool hands_over)
{
    __atomic_store_n(&shard->hands_over, hands_over, __ATOMIC_RELAXED);
}
static inline bool gyre_shard_is_stopping(const struct gyre_shard *shard)
{
    return __atomic_load_n(&shard->stop, __ATOMIC_RELAXED) != 0;
}

/** LOST, and the sentence that a handler does not return. */
gyre_status gyre_shard_no_return(const struct gyre_shard *shard);
/** Handles requests until the shard is to be given back (OK) or cannot be kept. The kernel stands idle at the end if OK. */
gyre_status gyre_shard_work(struct gyre_shard *shard);
/** Awaiting: handles some of the blocks up to `handled`, which the owner has answered, and publishes nothing. A failure: it cannot go on so. */
gyre_status gyre_shard_follow(struct gyre_shard *shard, uint64_t handled);
/** Begins a checkpoint of the idle kernel, once all replies are published. The shard may go on while it is written, block by block. */
gyre_status gyre_shard_begin_checkpoint(struct gyre_shard *shard);
gyre_status gyre_shard_write_checkpoint(struct gyre_shard *shard);
/** Returns when a checkpoint of the idle kernel is kept, as it stands now. */
gyre_status gyre_shard_checkpoint(struct gyre_shard *shard);

#endif
