/* SPDX-License-Identifier: Apache-2.0 */
/* 48 bytes as 64 letters. */
#include <gyre/kernel.h>

#define BYTES(FIELD) FIELD(u8, bytes[48])
GYRE_MESSAGE(bytes_of, BYTES)
#define LETTERS(FIELD) FIELD(u8, letters[64])
GYRE_MESSAGE(letters_of, LETTERS)

GYRE_HELPER u8 letter(u32 bits)
{
    if (bits < 26)
        return (u8)('A' + bits);
    if (bits < 52)
        return (u8)('a' + bits - 26);
    if (bits < 62)
        return (u8)('0' + bits - 52);
    return bits == 62 ? '+' : '/';
}

GYRE_KERNEL(base64, bytes_of, letters_of)
{
    for (u32 i = 0; i < 16; i++) {
        const u32 bits = (u32)request->bytes[3 * i] << 16 | (u32)request->bytes[3 * i + 1] << 8 |
                         request->bytes[3 * i + 2];
        for (u32 j = 0; j < 4; j++)
            reply->letters[4 * i + j] = letter(bits >> (18 - 6 * j) & 63);
    }
    return GYRE_REPLY;
}
