/* SPDX-License-Identifier: Apache-2.0 */
/* Three hashes of a byte string of any length up to an array. */
#include <gyre/kernel.h>

#include "hash.h"

GYRE_HELPER u64 fnv1a(const GYRE_GLOBAL u8 *bytes, u32 length)
{
    u64 h = 0xcbf29ce484222325UL;
    for (u32 i = 0; i < length; i++)
        h = (h ^ bytes[i]) * 0x100000001b3UL;
    return h;
}

GYRE_HELPER u32 scramble(u32 k)
{
    return gyre_rotl_u32(k * 0xcc9e2d51u, 15) * 0x1b873593u;
}

GYRE_HELPER u32 murmur3(const GYRE_GLOBAL u8 *bytes, u32 length, u32 seed)
{
    u32 h = seed, i = 0;
    for (; i + 4 <= length; i += 4) {
        const u32 k = bytes[i] | (u32)bytes[i + 1] << 8 | (u32)bytes[i + 2] << 16 | (u32)bytes[i + 3] << 24;
        h = gyre_rotl_u32(h ^ scramble(k), 13) * 5 + 0xe6546b64u;
    }
    u32 tail = 0;
    for (u32 j = length; j > i; j--)
        tail = tail << 8 | bytes[j - 1];
    h ^= scramble(tail);
    h ^= length;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

GYRE_HELPER u32 crc32(const GYRE_GLOBAL u8 *bytes, u32 length)
{
    u32 crc = 0xffffffffu;
    for (u32 i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

GYRE_KERNEL(hash, hash_request, hash_reply)
{
    if (!gyre_assert(gyre, request->length <= 100))
        return GYRE_FAILED;
    reply->fnv = fnv1a(request->bytes, request->length);
    reply->murmur = murmur3(request->bytes, request->length, request->seed);
    reply->crc = crc32(request->bytes, request->length);
    return GYRE_REPLY;
}
