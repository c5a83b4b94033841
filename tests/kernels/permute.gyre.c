/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations of local arrays, whose indices wrap around: in ciphers (the rows of AES), mixers, ring buffers. */
#include <gyre/kernel.h>

#include "permute.h"

GYRE_HELPER void shift_rows(u8 state[16])
{
    u8 shifted[16];
    for (u32 i = 0; i < 16; i++)
        shifted[i] = state[(i + i % 4 * 4) % 16];
    for (u32 i = 0; i < 16; i++)
        state[i] = shifted[i];
}

GYRE_HELPER void step_through(u32 words[12], u32 step)
{
    u32 ordered[12];
    for (u32 i = 0; i < 12; i++)
        ordered[i] = words[i * step % 12];
    for (u32 i = 0; i < 12; i++)
        words[i] = ordered[i];
}

GYRE_KERNEL(permute, permute_request, permute_reply)
{
    u8 rows[16], values[16];
    u32 words[12];
    for (u32 i = 0; i < 16; i++)
        rows[i] = values[i] = request->values[i];
    for (u32 i = 0; i < 12; i++)
        words[i] = request->words[i];
    shift_rows(rows);
    step_through(words, request->step);
    for (u32 i = 0; i < 16; i++) {
        reply->fifths[i] = values[i * 5 % 16];
        reply->rows[i] = rows[i];
        reply->sevenths[i] = values[i * 7 & 15];
    }
    for (u32 i = 0; i < 12; i++)
        reply->steps[i] = words[i];
    return GYRE_REPLY;
}
