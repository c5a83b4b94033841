/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 of 40 bytes, bit by bit. */
#include <gyre/kernel.h>

#define PACKET(FIELD) FIELD(u8, bytes[40])
GYRE_MESSAGE(packet, PACKET)
#define CHECKSUM(FIELD) FIELD(u32, crc)
GYRE_MESSAGE(checksum, CHECKSUM)

GYRE_KERNEL(crc, packet, checksum)
{
    u32 crc = 0xffffffffu;
    for (u32 i = 0; i < 40; i++) {
        crc ^= request->bytes[i];
        for (u32 bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1u ? 0xedb88320u : 0u);
    }
    reply->crc = ~crc;
    return GYRE_REPLY;
}
