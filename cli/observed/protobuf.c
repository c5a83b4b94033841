/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format of Protocol Buffers (protobuf.h): https://protobuf.dev/programming-guides/encoding */
#include "cli/observed/protobuf.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

static void put(protobuf *to, const void *bytes, size_t size)
{
    if (to->failed || !size)
        return;
    if (size > to->room - to->size) {
        const size_t room = 2 * (to->size + size) + 64;
        unsigned char *grown = realloc(to->bytes, room);
        if (!grown) {
            to->failed = true;
            return;
        }
        to->bytes = grown;
        to->room = room;
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static void put_varint(protobuf *to, uint64_t value)
{
    unsigned char bytes[10];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (unsigned char)(value | 0x80);
    bytes[size++] = (unsigned char)value;
    put(to, bytes, size);
}

static void put_tag(protobuf *to, uint32_t field, unsigned kind)
{
    put_varint(to, (uint64_t)field << 3 | kind);
}

void protobuf_number(protobuf *to, uint32_t field, uint64_t value)
{
    put_tag(to, field, VARINT);
    put_varint(to, value);
}

void protobuf_fixed64(protobuf *to, uint32_t field, uint64_t value)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++) /* the least significant byte first */
        bytes[i] = (unsigned char)(value >> (8 * i));
    put_tag(to, field, FIXED64);
    put(to, bytes, sizeof bytes);
}

void protobuf_bytes(protobuf *to, uint32_t field, const void *bytes, size_t size)
{
    put_tag(to, field, LENGTH);
    put_varint(to, size);
    put(to, bytes, size);
}

void protobuf_text(protobuf *to, uint32_t field, const char *text)
{
    protobuf_bytes(to, field, text, strlen(text));
}

void protobuf_message(protobuf *to, uint32_t field, protobuf *from)
{
    protobuf_bytes(to, field, from->bytes, from->size);
    to->failed = to->failed || from->failed;
    protobuf_finish(from);
}

void protobuf_finish(protobuf *message)
{
    free(message->bytes);
    *message = (protobuf){0};
}
