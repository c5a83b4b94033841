/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes CRC-32C on devices, with the same results as gyre/checksum.h on the host. Included by device.h in kernels
 * that are compiled with GYRE_SEALED = 1; other kernels hold no trace of it.
 */
#ifndef GYRE_DIALECT_SEAL_H
#define GYRE_DIALECT_SEAL_H

#define GYRE_SEAL_TEXT_ "the CRC-32C of the request is wrong"

GYRE_CONSTANT gyre_u32 gyre_crc32c_nibbles_[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};

/*
 * Continues a checksum by 1 to 4 bytes, the lowest byte of `word` first. The state before the first byte is ~0; the
 * checksum is the complement of the state after the last byte.
 */
GYRE_HELPER gyre_u32 gyre_crc32c_word_(gyre_u32 state, gyre_u32 word, gyre_u32 bytes)
{
    state ^= word;
    for (gyre_u32 nibble = 0; nibble < 2 * bytes; nibble++)
        state = state >> 4 ^ gyre_crc32c_nibbles_[state & 15];
    return state;
}

/* Continues a checksum by `size` bytes; `from` is aligned to 4 bytes. */
GYRE_HELPER gyre_u32 gyre_crc32c_(gyre_u32 state, const GYRE_GLOBAL void *from, gyre_u32 size)
{
    const GYRE_GLOBAL gyre_u32 *words = (const GYRE_GLOBAL gyre_u32 *)from;
    const GYRE_GLOBAL gyre_u8 *rest = (const GYRE_GLOBAL gyre_u8 *)(words + size / 4);
    for (gyre_u32 i = 0; i < size / 4; i++)
        state = gyre_crc32c_word_(state, words[i], 4);
    for (gyre_u32 i = 0; i < size % 4; i++)
        state = gyre_crc32c_word_(state, rest[i], 1);
    return state;
}

/* Returns the checksum of a request with the current header. */
GYRE_HELPER gyre_u32 gyre_seal_of_request_(const gyre_context *gyre, const GYRE_GLOBAL void *payload,
                                           gyre_u32 length)
{
    gyre_u32 state = 0xffffffffu;
#if GYRE_HEADED
    for (gyre_u32 i = 0; i < GYRE_HEADER_SIZE_(gyre); i += 4)
        state = gyre_crc32c_word_(state, GYRE_HEADER_LOAD_(gyre, gyre_u32, i), 4);
#endif
    (void)gyre;
    return ~gyre_crc32c_(state, payload, length);
}

GYRE_HELPER gyre_u32 gyre_seal_of_reply_(const GYRE_GLOBAL void *payload, gyre_u32 length)
{
    return ~gyre_crc32c_(0xffffffffu, payload, length);
}

#endif
