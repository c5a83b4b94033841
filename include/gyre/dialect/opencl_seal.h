/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checksums of messages in OpenCL kernels. A request's checksum is checked before its handler is called; a reply's
 * checksum is stored before the reply is settled. Only in kernels that are compiled with GYRE_SEALED = 1. Included by
 * opencl_epoch.h.
 */
#ifndef GYRE_DIALECT_OPENCL_SEAL_H
#define GYRE_DIALECT_OPENCL_SEAL_H

#if GYRE_SEALED
/* Whether message i has its sender's seal (checksum); if not, the message is failed. */
GYRE_HELPER int gyre_epochs_seal_holds_(gyre_context *gyre, const gyre_epoch *epoch,
                                        const __global gyre_u8 *region, gyre_u32 i,
                                        const __global void *asked, gyre_u32 length)
{
    const __global gyre_u32 *seals = (const __global gyre_u32 *)(region + epoch->seals_offset);
    if (!epoch->seals_offset ||
        gyre_seal_of_request_(gyre, asked, length) == seals[(epoch->start + i) & epoch->mask])
        return 1;
    gyre_fail_(gyre, GYRE_FAILURE_SEAL, GYRE_SEAL_TEXT_);
    return 0;
}

GYRE_HELPER void gyre_epochs_seal_(const gyre_epoch *epoch, __global gyre_u8 *region, gyre_u32 i,
                                   const __global gyre_slot *out, const __global void *answer)
{
    __global gyre_u32 *seals = (__global gyre_u32 *)(region + epoch->reply_seals_offset);
    if (epoch->seals_offset && out->info == GYRE_OUTCOME_REPLY)
        seals[(epoch->start + i) & epoch->mask] = gyre_seal_of_reply_(answer, out->length);
}
#else
#define gyre_epochs_seal_holds_(gyre, epoch, region, i, asked, length) 1
#define gyre_epochs_seal_(epoch, region, i, out, answer)               ((void)0)
#endif

#endif
