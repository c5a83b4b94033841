/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash of a key: SipHash-1-3 with a secret, so that who chooses keys cannot choose those that collide. Which block of a kernel
 * handles a message of a link by key follows from it. One text for host C, CUDA C++ and OpenCL C. Internal; a checkpoint of a table of
 * keys depends on it (keyed_layout.h has the version).
 */
#ifndef GYRE_KEY_HASH_H
#define GYRE_KEY_HASH_H

#include "gyre/types.h"

/* GYRE_KEY_HASH_LOAD_ loads the 8 bytes at `at`, which OpenCL C, that copies no bytes, gets where a word may begin. */
#ifdef GYRE_DIALECT_CUDA
#define GYRE_KEY_HASH_ static __device__ inline
#elif defined(GYRE_DIALECT_OPENCL)
#define GYRE_KEY_HASH_               GYRE_HELPER
#define GYRE_KEY_HASH_LOAD_(to_, at) (*(to_) = *(const gyre_u64 *)(at))
#else
#include <string.h>
#define GYRE_KEY_HASH_ static inline
#endif
#ifndef GYRE_KEY_HASH_LOAD_
#define GYRE_KEY_HASH_LOAD_(to_, at) memcpy((to_), (at), 8)
#endif

GYRE_KEY_HASH_ gyre_u64 gyre_keyed_turn(gyre_u64 x, int by)
{
    return x << by | x >> (64 - by);
}

GYRE_KEY_HASH_ void gyre_keyed_round(gyre_u64 v[4])
{
    v[0] += v[1];
    v[1] = gyre_keyed_turn(v[1], 13) ^ v[0];
    v[0] = gyre_keyed_turn(v[0], 32);
    v[2] += v[3];
    v[3] = gyre_keyed_turn(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = gyre_keyed_turn(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = gyre_keyed_turn(v[1], 17) ^ v[2];
    v[2] = gyre_keyed_turn(v[2], 32);
}

/** SipHash-1-3 of `size` bytes. */
GYRE_KEY_HASH_ gyre_u64 gyre_keyed_hash_bytes(const gyre_u64 seed[2], const void *bytes, gyre_u32 size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    gyre_u64 v[4] = {seed[0] ^ 0x736f6d6570736575u, seed[1] ^ 0x646f72616e646f6du,
                     seed[0] ^ 0x6c7967656e657261u, seed[1] ^ 0x7465646279746573u};
    gyre_u64 word;
    for (gyre_u32 left = size; left >= 8; left -= 8, at += 8) {
        GYRE_KEY_HASH_LOAD_(&word, at);
        v[3] ^= word;
        gyre_keyed_round(v);
        v[0] ^= word;
    }
    word = (gyre_u64)size << 56;
    for (gyre_u32 i = 0; i < size % 8; i++)
        word |= (gyre_u64)at[i] << (8 * i);
    v[3] ^= word;
    gyre_keyed_round(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    gyre_keyed_round(v);
    gyre_keyed_round(v);
    gyre_keyed_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/** The block, of `blocks`, that handles the messages of a link whose keys have this hash (GYRE_LINK_SHARE_KEY). */
GYRE_KEY_HASH_ gyre_u32 gyre_link_owner(gyre_u64 hash, gyre_u32 blocks)
{
    return (gyre_u32)((hash >> 32) * blocks >> 32);
}

#endif
