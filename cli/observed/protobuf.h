/* SPDX-License-Identifier: Apache-2.0 */
/* Writes messages of Protocol Buffers, field by field, into memory that grows. One thread. */
#ifndef GYRE_CLI_OBSERVED_PROTOBUF_H
#define GYRE_CLI_OBSERVED_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A message that is being written. All zeros: an empty one. Once `failed`, there is no memory, and nothing more is written. */
typedef struct protobuf {
    unsigned char *bytes;
    size_t size, room;
    bool failed;
} protobuf;

/** A number as a varint: uint64, uint32, bool, enum, and int64 and int32 that are not negative. */
void protobuf_number(protobuf *to, uint32_t field, uint64_t value);
void protobuf_fixed64(protobuf *to, uint32_t field, uint64_t value);
/** Bytes, a text, or a message. */
void protobuf_bytes(protobuf *to, uint32_t field, const void *bytes, size_t size);
void protobuf_text(protobuf *to, uint32_t field, const char *text);
/** Adds `from` as a message, empties it, and takes over that it failed. */
void protobuf_message(protobuf *to, uint32_t field, protobuf *from);
void protobuf_finish(protobuf *message);

#endif
