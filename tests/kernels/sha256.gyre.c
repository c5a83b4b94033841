/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256: local arrays as parameters, a constant table, wrapping arithmetic. */
#include <gyre/kernel.h>

#include "sha256.h"

GYRE_CONSTANT u32 round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

GYRE_HELPER u32 rotr(u32 x, u32 n)
{
    return gyre_rotl_u32(x, 32 - n);
}

/* Byte `at` of the message with its padding, which ends in the length in bits. */
GYRE_HELPER u32 padded_byte(const GYRE_GLOBAL sha256_request *in, u32 at, u32 total)
{
    if (at < in->length)
        return in->bytes[at];
    if (at == in->length)
        return 0x80;
    return at >= total - 4 ? in->length * 8 >> 8 * (total - 1 - at) & 0xff : 0;
}

GYRE_HELPER void digest_block(u32 h[8], u32 w[64])
{
    for (u32 i = 16; i < 64; i++) {
        const u32 a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[i - 7] +
               (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
    }
    u32 s[8];
    for (u32 i = 0; i < 8; i++)
        s[i] = h[i];
    for (u32 i = 0; i < 64; i++) {
        const u32 big1 = rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25);
        const u32 t1 = s[7] + big1 + ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[i] + w[i];
        const u32 big0 = rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22);
        const u32 t2 = big0 + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (u32 j = 7; j > 0; j--)
            s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (u32 i = 0; i < 8; i++)
        h[i] += s[i];
}

GYRE_KERNEL(sha256, sha256_request, sha256_reply)
{
    u32 h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    u32 w[64] = {0};
    if (!gyre_assert(gyre, request->length <= 119))
        return GYRE_FAILED;
    const u32 total = (request->length + 9 + 63) / 64 * 64;
    for (u32 start = 0; start < total; start += 64) {
        for (u32 i = 0; i < 64; i++)
            w[i / 4] = w[i / 4] << 8 | padded_byte(request, start + i, total);
        digest_block(h, w);
    }
    for (u32 i = 0; i < 32; i++)
        reply->digest[i] = (u8)(h[i / 4] >> (24 - i % 4 * 8));
    return GYRE_REPLY;
}
