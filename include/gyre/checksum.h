/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes CRC-32C (Castagnoli). The client's side and workers on the CPU use this one text, so that both agree.
 * Included by the core and by dialect/c11.h.
 *
 * Uses the processor's instruction if there is one (asked once a call), 8 bytes at a time; otherwise a table of 16
 * entries.
 */
#ifndef GYRE_CHECKSUM_H
#define GYRE_CHECKSUM_H

#include <string.h>

#include "gyre/types.h"

#define GYRE_CHECKSUM_FUNCTION_ static inline __attribute__((unused))

/**
 * Continues a checksum by the table. The state before the first byte is ~0; the checksum is the complement of the
 * state after the last byte.
 */
GYRE_CHECKSUM_FUNCTION_ gyre_u32 gyre_crc32c_by_table_(gyre_u32 state, const unsigned char *bytes,
                                                       gyre_u64 size)
{
    static const gyre_u32 table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
                                       0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                       0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
    for (gyre_u64 i = 0; i < size; i++) {
        state ^= bytes[i];
        state = state >> 4 ^ table[state & 15];
        state = state >> 4 ^ table[state & 15];
    }
    return state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) GYRE_CHECKSUM_FUNCTION_ gyre_u32
gyre_crc32c_by_instruction_(gyre_u32 state, const unsigned char *bytes, gyre_u64 size)
{
    unsigned long long wide = state;
    for (; size >= 8; bytes += 8, size -= 8) {
        unsigned long long word;
        memcpy(&word, bytes, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    state = (gyre_u32)wide;
    for (; size > 0; bytes++, size--)
        state = __builtin_ia32_crc32qi(state, *bytes);
    return state;
}
#define GYRE_CRC32C_(state, bytes, size)                                                                     \
    (__builtin_cpu_supports("sse4.2") ? gyre_crc32c_by_instruction_((state), (bytes), (size))                \
                                      : gyre_crc32c_by_table_((state), (bytes), (size)))
#else
#define GYRE_CRC32C_(state, bytes, size) gyre_crc32c_by_table_((state), (bytes), (size))
#endif

/** The checksum of a header (which may have 0 bytes) followed by a payload. */
GYRE_CHECKSUM_FUNCTION_ gyre_u32 gyre_seal_of(const void *header, gyre_u64 header_size, const void *payload,
                                              gyre_u64 size)
{
    gyre_u32 state = 0xffffffffu;
    if (header_size)
        state = GYRE_CRC32C_(state, (const unsigned char *)header, header_size);
    if (size)
        state = GYRE_CRC32C_(state, (const unsigned char *)payload, size);
    return ~state;
}

#endif
