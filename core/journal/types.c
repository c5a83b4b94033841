/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes types as bytes and reads them (types.h). A text ends with a NUL within its padded room. A number that says how
 * much follows is checked against the bytes that are left, before anything is allocated.
 */
#include "core/journal/types.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

enum { DEPTH_MAX = 32, FIELDS_MAX = 4096, NESTED_MAX = 65536 };

struct gyre_journal_block {
    struct gyre_journal_block *next;
    max_align_t bytes[];
};

/* The head of a type: its texts and the types of its fields follow. */
struct type_head {
    uint64_t size, alignment;
    uint32_t name_room, fields_room; /* sizes of the texts, with NUL and padding */
    uint32_t count, reserved;        /* count: how many types of fields follow */
};

/* ---- writing ---- */

static uint32_t count_types(const gyre_type *type)
{
    uint32_t count = 0;
    while (type->field_types && type->field_types[count])
        count++;
    return count;
}

static uint32_t room_of(const char *text)
{
    const size_t size = strlen(text) + 1;
    return (uint32_t)((size + GYRE_RECORD_ALIGNMENT - 1) / GYRE_RECORD_ALIGNMENT * GYRE_RECORD_ALIGNMENT);
}

static void put_text(struct gyre_bytes *bytes, const char *text)
{
    char *room = gyre_bytes_add(bytes, NULL, room_of(text));
    if (room)
        memcpy(room, text, strlen(text) + 1);
}

static void put_type(struct gyre_bytes *bytes, const gyre_type *type, int depth)
{
    const struct type_head head = {.size = type->size,
                                   .alignment = type->alignment,
                                   .name_room = room_of(type->name),
                                   .fields_room = room_of(type->fields),
                                   .count = depth < DEPTH_MAX ? count_types(type) : 0};
    gyre_bytes_add(bytes, &head, sizeof head);
    put_text(bytes, type->name);
    put_text(bytes, type->fields);
    for (uint32_t i = 0; i < head.count; i++)
        put_type(bytes, type->field_types[i], depth + 1);
}

void gyre_journal_type_put(struct gyre_bytes *bytes, const struct gyre_journal_type *type)
{
    gyre_bytes_add(bytes, &type->about, sizeof type->about);
    put_type(bytes, type->type, 0);
}

/* ---- reading ---- */

struct reader {
    const unsigned char *at;
    size_t left;
    struct gyre_journal_types *types;
    uint32_t nested; /* how many types were read so far */
    bool broken, starved;
};

static const void *read_bytes(struct reader *reader, size_t size)
{
    const unsigned char *at = reader->at;
    reader->broken = reader->broken || reader->left < size;
    if (reader->broken)
        return NULL;
    reader->at += size;
    reader->left -= size;
    return at;
}

/* Zeroed memory that lives as long as the types. */
static void *keep_bytes(struct reader *reader, size_t size)
{
    struct gyre_journal_block *block = calloc(1, sizeof *block + size);
    if (!block) {
        reader->broken = reader->starved = true;
        return NULL;
    }
    block->next = reader->types->blocks;
    reader->types->blocks = block;
    return block->bytes;
}

static const char *read_text(struct reader *reader, uint32_t room)
{
    const char *text = room % GYRE_RECORD_ALIGNMENT ? NULL : read_bytes(reader, room);
    char *copy = text && memchr(text, 0, room) ? keep_bytes(reader, room) : NULL;
    reader->broken = reader->broken || !copy;
    return copy ? memcpy(copy, text, room) : "";
}

static const gyre_type *read_type(struct reader *reader, int depth)
{
    struct type_head head = {0};
    const void *bytes =
        depth < DEPTH_MAX && reader->nested++ < NESTED_MAX ? read_bytes(reader, sizeof head) : NULL;
    gyre_type *type = bytes ? keep_bytes(reader, sizeof *type) : NULL;
    reader->broken = reader->broken || !type;
    if (!type)
        return NULL;
    memcpy(&head, bytes, sizeof head);
    type->size = head.size;
    type->alignment = head.alignment;
    type->name = read_text(reader, head.name_room);
    type->fields = read_text(reader, head.fields_room);
    reader->broken = reader->broken || head.count > FIELDS_MAX || head.count > reader->left / sizeof head;
    const gyre_type **fields =
        reader->broken ? NULL : keep_bytes(reader, (head.count + 1) * sizeof(gyre_type *));
    for (uint32_t i = 0; fields && i < head.count && !reader->broken; i++)
        fields[i] = read_type(reader, depth + 1);
    type->field_types = fields;
    return type;
}

gyre_status gyre_journal_type_get(const unsigned char *contents, size_t size, size_t offset,
                                  struct gyre_journal_types *types)
{
    struct reader reader = {.at = contents, .left = size, .types = types};
    struct gyre_journal_type type = {.type = NULL};
    const void *about = read_bytes(&reader, sizeof type.about);
    if (about)
        memcpy(&type.about, about, sizeof type.about);
    type.type = read_type(&reader, 0);
    if (reader.starved)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to read a journal");
    if (reader.broken || !memchr(type.about.name, 0, sizeof type.about.name))
        return gyre_error_set(GYRE_INVALID, "the record at byte %zu of the journal describes no type",
                              offset);
    if (types->count == GYRE_JOURNAL_TYPES_MAX)
        return gyre_error_set(
            GYRE_INVALID,
            "the record at byte %zu of the journal describes one type more than the %d that "
            "a kernel has",
            offset, GYRE_JOURNAL_TYPES_MAX);
    types->all[types->count++] = type;
    return GYRE_OK;
}

const struct gyre_journal_type *gyre_journal_type_of(const struct gyre_journal_types *types,
                                                     enum gyre_type_role role, const char *name)
{
    for (size_t i = 0; i < types->count; i++)
        if (types->all[i].about.role == (uint32_t)role && (!name || !strcmp(types->all[i].about.name, name)))
            return &types->all[i];
    return NULL;
}

void gyre_journal_types_release(struct gyre_journal_types *types)
{
    while (types->blocks) {
        struct gyre_journal_block *block = types->blocks;
        types->blocks = block->next;
        free(block);
    }
    types->count = 0;
}
