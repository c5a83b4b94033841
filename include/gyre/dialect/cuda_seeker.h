/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of a worker for requests: its words, its limits, the order that it asks for, and its place among the
 * pollers. A part (see cuda_resident.h): it runs once a run of messages. Included by cuda_seek.h.
 */
#ifndef GYRE_DIALECT_CUDA_SEEKER_H
#define GYRE_DIALECT_CUDA_SEEKER_H

#define GYRE_SEEK_STAGGER 900 /* clocks: half a poll */
#define GYRE_SEEK_NARROW  2   /* slots that a look at an idle queue reads */
/*
 * Rows of 32 slots that a look reads where there was a backlog. Messages of a line or two are handled so quickly that
 * a look has to find more of them; with larger slots a longer look returns later. Blocks that share a queue handle
 * more messages in the same time, and one look at a time finds requests for all of them.
 */
#if GYRE_KEYED
#define GYRE_SEEK_ROWS 16 /* a run of a keyed actor */
#else
#define GYRE_SEEK_ROWS 8
#endif
#define GYRE_SEEK_ROWS_LARGE 4
#define GYRE_SEEK_LARGE      128 /* slots of more bytes than this are large */
#ifndef GYRE_SEEK_AHEAD
#define GYRE_SEEK_AHEAD 4 /* workers that share a queue want to know the requests of this many looks ahead */
#endif
#if GYRE_STANDS_SOON
#define GYRE_SEEK_POLLS_PER_ORDER 2
#else
#define GYRE_SEEK_POLLS_PER_ORDER 16 /* polls between two looks at the order */
#endif
/* after this many looks that found nothing, messages may be coming one at a time */
#define GYRE_SEEK_QUIET 2
/* Clocks between two looks of a resting block for another order. */
#if GYRE_STANDS_SOON
#define GYRE_SEEK_ASK_HOST_CLOCKS 2000
#else
#define GYRE_SEEK_ASK_HOST_CLOCKS 10000
#endif
#define GYRE_SEEK_ASK_RELAY_CLOCKS 2000
#define GYRE_SEEK_REST_NS          100 /* the rest of a worker while other workers look for it */
#define GYRE_SEEK_TEAM_NS          8   /* added for each block that watches the same words */

/** A search of a worker; its words belong to lane 0. */
struct gyre_seeker_ {
    gyre_u64 first; /* where to look, or the first request that was taken */
    gyre_u32 count; /* requests taken; 0: none yet */
    gyre_u32 which; /* the number of the block's queue */
    gyre_u32 polls;
    gyre_u32 phase; /* 1 + the place among the pollers that the worker holds; 0: none */
    gyre_u32 wide;  /* there may be a backlog: look far ahead */
    gyre_u32 empty; /* the worker's last looks that found nothing */
    gyre_u32 spare; /* the one reply goes to the spare place (cuda_promise.h) */
    gyre_u64 limit; /* with replies back to back: the replies to requests below it have room */
};

/* Lane 0's decision. Further bits tell how to carry it out. */
#define GYRE_SEEK_LEAVE_  0u /* there is another order, or it is quiet */
#define GYRE_SEEK_DONE_   1u
#define GYRE_SEEK_REST_   2u
#define GYRE_SEEK_LOOK_   3u
#define GYRE_SEEK_WIDE_   4u
#define GYRE_SEEK_ASKS_   8u /* the look also reads the order */
#define GYRE_SEEK_WHICH_0 4  /* the queue's number, from this bit on */

/* The lanes of the first warp: a block kernel may have fewer than 32. */
GYRE_HELPER gyre_u32 gyre_first_warp_()
{
    return blockDim.x < 32 ? (1u << blockDim.x) - 1 : 0xffffffffu;
}

/* Writes counts that changed to the host, one thread at a time, so that an older count never replaces a newer one. */
GYRE_HELPER void gyre_tell_counts_(const gyre_cuda_arguments &arguments, gyre_block_view *view)
{
    if (*(volatile gyre_u64 *)&view->told == *(volatile gyre_u64 *)&view->handled ||
        atomicCAS(&view->telling, 0u, 1u) != 0)
        return;
    const gyre_u64 handled = atomicAdd(&view->handled, 0ull);
    gyre_count_served_(arguments, view);
    atomicExch(&view->told, handled); /* messages counted meanwhile are written the next time */
    gyre_fence_block_();
    atomicExch(&view->telling, 0u);
}

/* Looks for another order, if no worker of the block has done so for `clocks` clocks. */
GYRE_HELPER void gyre_ask_(gyre_block_view *view, gyre_u64 clocks)
{
    const gyre_u64 before = *(volatile gyre_u64 *)&view->asked, now = (gyre_u64)clock64();
    if (now - before < clocks || atomicCAS(&view->asked, before, now) != before)
        return;
    if (gyre_order_changed_(view))
        atomicExch(&view->go, GYRE_GO_ORDER); /* ends the run even if there is a backlog */
}

/*
 * Makes a busy worker read the host's words now and then: for another order, and for requests to drop. It does not do
 * so with each run, because reads of one line across the bus wait for each other, whichever worker makes them, and
 * each takes a microsecond. Returns 1 when the block's other queues have waited for long enough (gyre_is_others_turn_).
 */
GYRE_HELPER gyre_u32 gyre_look_up_now_(gyre_block_view *view, gyre_served *queue)
{
    const gyre_u64 before = *(volatile gyre_u64 *)&queue->looked, now = (gyre_u64)clock64();
    gyre_ask_(view, GYRE_CUDA_LOOK_CLOCKS);
    if (now - before < GYRE_CUDA_LOOK_CLOCKS * (1 + gridDim.x / 8) ||
        atomicCAS(&queue->looked, before, now) != before)
        return 0;
    atomicExch(&queue->dropping,
               gyre_word_load_(queue->drop_before)); /* the block's other workers use this value, too */
    return gyre_is_others_turn_(view, before, now);
}

/*
 * Gives the worker a place among the pollers, if one is free. The second place starts out of phase, because polls of
 * one line wait for each other; for the same reason only the first place looks far ahead.
 */
GYRE_HELPER gyre_u32 gyre_may_poll_(const gyre_block_view *view, gyre_seeker_ *seeker,
                                    gyre_cuda_claims *claims)
{
    if (seeker->phase)
        return 1;
    const gyre_u64 taken = gyre_near_load_((const gyre_u64 *)claims->pollers);
    if ((gyre_u32)taken == 0 && atomicCAS(&claims->pollers[0], 0u, 1u) == 0)
        seeker->phase = 1;
    else if (!seeker->wide && taken >> 32 == 0 && atomicCAS(&claims->pollers[1], 0u, 1u) == 0)
        seeker->phase = 2;
    const gyre_u64 start = (gyre_u64)clock64();
    while (seeker->phase == 2 && view->queue_count == 1 && (gyre_u64)clock64() - start < GYRE_SEEK_STAGGER)
        ;
    return seeker->phase;
}

GYRE_HELPER void gyre_stop_polling_(gyre_seeker_ *seeker, gyre_cuda_claims *claims)
{
    if (seeker->phase)
        atomicExch(&claims->pollers[seeker->phase - 1], 0u);
    seeker->phase = 0;
}

#endif
