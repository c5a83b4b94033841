/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts messages to the wire format of MemoryPack (a .NET serializer) and back, by the layout of the message and a
 * description (GYRE_WIRE) of the choices in the schema of the other side.
 *
 *   scalar          its bytes, little-endian
 *   id128           16 bytes; dotnet: the first three groups little-endian
 *   record          object: a byte that counts the members, then the members in order; packed: the members
 *                   alone; struct: the bytes of the C struct, padding included
 *   array in C      its elements, without a count
 *   span            an i32 count (-1: none, read as empty), then the elements
 *   utf8            utf8: ~bytes and the count of UTF-16 units, both i32, then UTF-8; utf16: the count of
 *                   units, then the units; both: 0 for no characters, -1 for null, read as no characters
 *   optional T      T is utf8: null is -1; T is an object: null is 255. Any other T, padded: a flag, zeros up
 *                   to the value's alignment, the value; packed: a flag and the value; bare: the value alone,
 *                   where zero is null
 *
 * Decoding reads nothing beyond its input and takes time in proportion to it. Threads: any. Nothing blocks.
 */
#ifndef GYRE_CLI_WIRE_PACK_H
#define GYRE_CLI_WIRE_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/types/types.h"

typedef enum gyre_pack_form { GYRE_PACK_OBJECT, GYRE_PACK_PACKED, GYRE_PACK_STRUCT } gyre_pack_form;
typedef enum gyre_pack_nullable {
    GYRE_PACK_NULLABLE_PADDED,
    GYRE_PACK_NULLABLE_PACKED,
    GYRE_PACK_NULLABLE_BARE
} gyre_pack_nullable;
typedef enum gyre_pack_string { GYRE_PACK_UTF8, GYRE_PACK_UTF16 } gyre_pack_string;
typedef enum gyre_pack_guid { GYRE_PACK_GUID_DOTNET, GYRE_PACK_GUID_PLAIN } gyre_pack_guid;

typedef struct gyre_pack_options {
    gyre_pack_form form;
    gyre_pack_nullable nullable;
    gyre_pack_string string;
    gyre_pack_guid guid;
} gyre_pack_options;

/** The description of one record. */
typedef struct gyre_pack_record {
    char *type;
    gyre_pack_options options;
    char **fields; /* each field once, in the order on the wire; NULL: in the order of the declaration */
    size_t field_count;
} gyre_pack_record;

/** The descriptions of all records of a file. In {0} every record is an object. */
typedef struct gyre_pack {
    gyre_pack_options defaults; /* options for records that are not in the list */
    gyre_pack_record *records;
    size_t record_count;
} gyre_pack;

enum { GYRE_PACK_NULL_OBJECT = 255, GYRE_PACK_MEMBERS_MAX = 249, GYRE_PACK_DOTNET_GUID_ALIGNMENT = 4 };

/** Checks a description. INVALID, with the reason, when it does not fit the type or a type inside it. */
gyre_status gyre_pack_check(const gyre_pack *wire, const gyre_layout *layout);

bool gyre_pack_is_record(const gyre_layout *layout);
gyre_pack_options gyre_pack_options_of(const gyre_pack *wire, const gyre_layout *layout);
/** The field that stands `place`-th on the wire. */
const gyre_field *gyre_pack_field(const gyre_pack *wire, const gyre_layout *layout, uint32_t place);
/** Bytes on the wire of a value whose size there never changes; 0 for other values. */
uint64_t gyre_pack_fixed_size(const gyre_pack *wire, const gyre_layout *layout);
/** The alignment of the value in a padded optional. */
uint64_t gyre_pack_alignment(const gyre_layout *layout);
/** Whether an optional of this element has a flag, or a null of its own. */
bool gyre_pack_has_flag(const gyre_pack *wire, const gyre_layout *element);
/** The place of byte `i` of an id128 on the wire. */
size_t gyre_pack_guid_place(gyre_pack_guid guid, size_t i);

#endif
