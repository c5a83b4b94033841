/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes write bytes beside each other: neighbours in a word, and never the same byte.
 *
 * expects: nothing
 * options: --lanes 8
 * request: {"bytes":"abcdefghijklmnopqrstuvwxyzABCDEF"} */
#include <gyre/kernel.h>

#define BYTES(FIELD) FIELD(u8, bytes[32])
GYRE_MESSAGE(bytes_of, BYTES)

GYRE_BLOCK_KERNEL(interleaved, bytes_of, bytes_of, bytes_of)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);
    for (u32 i = lane; i < 32; i += lanes)
        scratch->bytes[i] = (u8)(request->bytes[31 - i] + 1);
    for (u32 i = lane; i < 32; i += lanes) /* its own bytes again */
        reply->bytes[i] = scratch->bytes[i];
    return GYRE_REPLY;
}
