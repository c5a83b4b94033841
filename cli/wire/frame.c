/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the frame header in front of a message in its wire form: little-endian, packed, reserved bytes zero. No
 * state. */
#include "cli/wire/frame.h"
#include "cli/wire/pack.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"

enum { AT_MAGIC = 0, AT_SIZE = 4, AT_TIMESTAMP = 12, AT_SENDER = 20, AT_RECEIVER = 24 };

static void put_number(uint8_t *to, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get_number(const uint8_t *from, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

void gyre_frame_write(const gyre_frame *frame, uint8_t header[GYRE_FRAME_SIZE])
{
    memset(header, 0, GYRE_FRAME_SIZE);
    put_number(header + AT_MAGIC, GYRE_FRAME_MAGIC, 4);
    put_number(header + AT_SIZE, frame->size, 8);
    put_number(header + AT_TIMESTAMP, frame->timestamp, 8);
    put_number(header + AT_SENDER, frame->sender, 4);
    put_number(header + AT_RECEIVER, frame->receiver, 4);
}

gyre_status gyre_frame_read(const uint8_t *bytes, size_t length, gyre_frame *frame)
{
    if (length < GYRE_FRAME_SIZE)
        return gyre_error_set(GYRE_INVALID, "byte %zu: the frame ends, expected a header of %d bytes", length,
                              GYRE_FRAME_SIZE);
    if (get_number(bytes + AT_MAGIC, 4) != GYRE_FRAME_MAGIC)
        return gyre_error_set(GYRE_INVALID, "byte 0: expected the magic 0x%04x, found 0x%04" PRIx64,
                              (unsigned)GYRE_FRAME_MAGIC, get_number(bytes + AT_MAGIC, 4));
    *frame = (gyre_frame){get_number(bytes + AT_SIZE, 8), get_number(bytes + AT_TIMESTAMP, 8),
                          (uint32_t)get_number(bytes + AT_SENDER, 4),
                          (uint32_t)get_number(bytes + AT_RECEIVER, 4)};
    if (frame->size > GYRE_FRAME_PAYLOAD_MAX || frame->size != length - GYRE_FRAME_SIZE)
        return gyre_error_set(GYRE_INVALID,
                              "byte %d: the header names a payload of %" PRIu64
                              " bytes, at most %d are allowed, and %zu follow",
                              AT_SIZE, frame->size, GYRE_FRAME_PAYLOAD_MAX, length - GYRE_FRAME_SIZE);
    return GYRE_OK;
}
