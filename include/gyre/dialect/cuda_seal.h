/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checksums of messages in CUDA kernels. A request's checksum is checked before its handler is called; a reply's
 * checksum is stored before its completion goes out. Only in kernels that are compiled with GYRE_SEALED = 1. Included
 * by cuda_resident.h.
 *
 * Checksums lie in the host's memory, behind the queue's headers. A reply's checksum must reach the host before the
 * reply's sequence. A completion that fits one cache line is stored without a fence, so the thread that stores the
 * checksum makes a fence of its own.
 */
#ifndef GYRE_DIALECT_CUDA_SEAL_H
#define GYRE_DIALECT_CUDA_SEAL_H

#if GYRE_SEALED
/* Finds the queue's checksums. Called before messages of the queue are handled. A sealed queue has headers. */
GYRE_HELPER void gyre_seal_queue_(gyre_context *gyre, const gyre_served *queue)
{
    const gyre_u64 capacity = queue->mask + 1, end = (gyre_u64)queue->headers + capacity * queue->header_size;
    gyre->seals = 0;
    gyre->seal_mask = queue->mask;
    if (queue->kind & GYRE_KIND_SEALED_)
        gyre->seals = (gyre_u32 *)((end + GYRE_LINE_SIZE - 1) / GYRE_LINE_SIZE * GYRE_LINE_SIZE);
}

/* Whether request `index` has its sender's seal (checksum); if not, the message is failed. */
GYRE_HELPER int gyre_seal_holds_(gyre_context *gyre, gyre_u64 index, const void *payload, gyre_u32 length)
{
    if (!gyre->seals || gyre_seal_of_request_(gyre, payload, length) ==
                            gyre_half_load_(gyre->seals + (index & gyre->seal_mask)))
        return 1;
    gyre_fail_(gyre, GYRE_FAILURE_SEAL, GYRE_SEAL_TEXT_);
    return 0;
}

/* Stores the reply's checksum. Called by the one thread that wrote the completion's header. */
GYRE_HELPER void gyre_seal_reply_(const gyre_context *gyre, gyre_u64 index, gyre_u32 outcome,
                                  const void *payload, gyre_u32 length)
{
    if (!gyre->seals || outcome != GYRE_OUTCOME_REPLY)
        return;
    const gyre_u32 seal = gyre_seal_of_reply_(payload, length);
    gyre_u32 *const to = gyre->seals + GYRE_SEALS_ROUND(gyre->seal_mask + 1) + (index & gyre->seal_mask);
    asm volatile("st.relaxed.sys.global.u32 [%0],%1;" ::"l"(to), "r"(seal) : "memory");
    gyre_release_system_();
}
#else
#define gyre_seal_queue_(gyre, queue)                           ((void)0)
#define gyre_seal_holds_(gyre, index, payload, length)          1
#define gyre_seal_reply_(gyre, index, outcome, payload, length) ((void)0)
#endif

#endif
