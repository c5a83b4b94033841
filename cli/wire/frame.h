/* SPDX-License-Identifier: Apache-2.0 */
/* The frame header in front of a message in its wire form. */
#ifndef GYRE_CLI_WIRE_FRAME_H
#define GYRE_CLI_WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

/** The header of 256 bytes before a message in its wire form: magic, size, timestamp, sender, receiver, then zeros. */
enum { GYRE_FRAME_SIZE = 256, GYRE_FRAME_MAGIC = 0xDCF1, GYRE_FRAME_PAYLOAD_MAX = 65536 };

typedef struct gyre_frame {
    uint64_t size; /* bytes of the payload behind the header */
    uint64_t timestamp;
    uint32_t sender, receiver;
} gyre_frame;

void gyre_frame_write(const gyre_frame *frame, uint8_t header[GYRE_FRAME_SIZE]);
/** Reads a header. INVALID, with the offset, unless `length` bytes hold a header and exactly the payload that it counts. */
gyre_status gyre_frame_read(const uint8_t *bytes, size_t length, gyre_frame *frame);

#endif
