/* SPDX-License-Identifier: Apache-2.0 */
/* A block of ChaCha20, whose state is an array of 16 words. */
#include <gyre/kernel.h>

#define SEED(FIELD) FIELD(u32, key[8]) FIELD(u32, counter) FIELD(u32, nonce[3])
GYRE_MESSAGE(seed, SEED)
#define BLOCK(FIELD) FIELD(u32, words[12])
GYRE_MESSAGE(stream, BLOCK)

GYRE_HELPER void quarter(u32 x[16], u32 a, u32 b, u32 c, u32 d)
{
    x[a] += x[b];
    x[d] = gyre_rotl_u32(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = gyre_rotl_u32(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = gyre_rotl_u32(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = gyre_rotl_u32(x[b] ^ x[c], 7);
}

GYRE_KERNEL(chacha, seed, stream)
{
    u32 x[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u};
    for (u32 i = 0; i < 8; i++)
        x[4 + i] = request->key[i];
    x[12] = request->counter;
    for (u32 i = 0; i < 3; i++)
        x[13 + i] = request->nonce[i];
    for (u32 i = 0; i < 10; i++) {
        for (u32 j = 0; j < 4; j++)
            quarter(x, j, 4 + j, 8 + j, 12 + j);
        for (u32 j = 0; j < 4; j++)
            quarter(x, j, 4 + (j + 1) % 4, 8 + (j + 2) % 4, 12 + (j + 3) % 4);
    }
    for (u32 i = 0; i < 12; i++)
        reply->words[i] = x[i];
    return GYRE_REPLY;
}
