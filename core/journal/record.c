/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a journal's records to memory and finds them there (record.h). Has no state; allocates only in
 * gyre_bytes_add.
 */
#include "core/journal/record.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_CAPACITY = 4096 };

static bool make_room(struct gyre_bytes *bytes, size_t size)
{
    size_t capacity = bytes->capacity ? bytes->capacity : FIRST_CAPACITY;
    if (bytes->capacity - bytes->size >= size && bytes->data)
        return true;
    while (capacity - bytes->size < size)
        capacity *= 2;
    unsigned char *data = realloc(bytes->data, capacity);
    if (!data)
        return false;
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

void *gyre_bytes_add(struct gyre_bytes *bytes, const void *data, size_t size)
{
    bytes->broken = bytes->broken || !make_room(bytes, size);
    if (bytes->broken)
        return NULL;
    unsigned char *place = bytes->data + bytes->size;
    bytes->size += size;
    if (data)
        memcpy(place, data, size);
    else
        memset(place, 0, size);
    return place;
}

void gyre_bytes_release(struct gyre_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct gyre_bytes){0};
}

static size_t padding_of(size_t size)
{
    return (GYRE_RECORD_ALIGNMENT - size % GYRE_RECORD_ALIGNMENT) % GYRE_RECORD_ALIGNMENT;
}

static uint64_t hash_of(const unsigned char *record, const struct gyre_record_header *header)
{
    uint64_t seed = XXH3_64bits(header, offsetof(struct gyre_record_header, hash));
    return XXH3_64bits_withSeed(record + sizeof *header, header->size, seed);
}

size_t gyre_record_begin(struct gyre_bytes *bytes, enum gyre_record_kind kind, uint64_t number)
{
    size_t place = bytes->size;
    struct gyre_record_header header = {.magic = GYRE_RECORD_MAGIC, .kind = (uint32_t)kind, .number = number};
    gyre_bytes_add(bytes, &header, sizeof header);
    return place;
}

void gyre_record_end(struct gyre_bytes *bytes, size_t place)
{
    struct gyre_record_header header;
    if (bytes->broken)
        return;
    memcpy(&header, bytes->data + place, sizeof header);
    header.size = bytes->size - place - sizeof header;
    header.hash = hash_of(bytes->data + place, &header);
    memcpy(bytes->data + place, &header, sizeof header);
    gyre_bytes_add(bytes, NULL, padding_of(header.size));
}

bool gyre_record_at(const unsigned char *data, size_t size, size_t offset, size_t *next)
{
    struct gyre_record_header header;
    if (offset > size || size - offset < sizeof header)
        return false;
    memcpy(&header, data + offset, sizeof header);
    size_t rest = size - offset - sizeof header;
    if (header.magic != GYRE_RECORD_MAGIC || header.size > rest ||
        padding_of(header.size) > rest - header.size)
        return false;
    *next = offset + sizeof header + header.size + padding_of(header.size);
    return hash_of(data + offset, &header) == header.hash;
}

uint64_t gyre_state_hash(const void *state, size_t size)
{
    return XXH3_64bits(state, size);
}
