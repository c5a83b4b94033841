/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a port as one of the types that a kernel takes (GYRE_PROTOCOL), in files that are compiled with GYRE_CHOICES, which implies
 * GYRE_LIMITED. Included by cuda_links.h. They lie in their ring as the port emitted them; who fetches them puts the number of the type and
 * the length in front, so that the sender needs to know nothing of it.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_CHOICE_H
#define GYRE_DIALECT_CUDA_LINK_CHOICE_H

#if !GYRE_CHOICES
#define GYRE_LINK_FETCH_CHOICE_(links, run) ((void)0)
#define GYRE_LINK_FRONTED_(run, part, at)   gyre_near_chunk_load_(at)
#else
#define GYRE_LINK_FETCH_CHOICE_(links, run)                                                                  \
    const gyre_u32 gyre_choice_of_run_ = gyre_link_choice_((links), (run))
#define GYRE_LINK_FRONTED_(run, part, at)                                                                    \
    (gyre_choice_of_run_ ? gyre_link_fronted_(gyre_choice_of_run_, (at) - (part)*16, (part), (run).stride)   \
                         : gyre_near_chunk_load_(at))

/* The number of the type as which messages of the run are taken; 0: they are as they lie there. */
GYRE_HELPER gyre_u32 gyre_link_choice_(const gyre_link_view_ *links, const gyre_link_run_ &run)
{
    if (run.from != GYRE_RUN_LINK || !run.ring || GYRE_LINK_TALK_(run.ring))
        return 0;
    return run.which < GYRE_LINK_INLETS ? links->inlets[run.which].choice
                                        : gyre_near_half_load_(&run.ring->choice);
}

/* Piece `part` of the message in `slot`, as if what says its type and length stood in front of its payload. */
GYRE_HELPER gyre_chunk gyre_link_fronted_(gyre_u32 choice, const gyre_u8 *slot, gyre_u32 part,
                                          gyre_u32 stride)
{
    const gyre_u8 *const at = slot + 16 * part;
    gyre_chunk chunk;
    if (part == 0) {
        chunk = gyre_near_chunk_load_(slot);
        chunk.y += GYRE_CHOICE_FRONT; /* the length is its lower half */
        return chunk;
    }
    chunk.x = part == 1
                  ? (gyre_u64)choice << 32 |
                        (gyre_near_half_load_(&((const gyre_link_slot *)slot)->length) + GYRE_CHOICE_FRONT)
                  : gyre_near_load_((const gyre_u64 *)(at - 8));
    chunk.y = 16 * part < stride ? gyre_near_load_((const gyre_u64 *)at) : 0;
    return chunk;
}
#endif

#endif
