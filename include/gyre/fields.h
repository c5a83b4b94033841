/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of message types at run time, for programs that learn a type only when they run: bindings for other languages,
 * viewers, converters. Included by applications. A program that declares its messages (message.h) does not need it.
 *
 *     gyre_kernel_info info = {.size = sizeof info};
 *     gyre_kernel_info_get(kernel, &info);
 *     gyre_fields *fields;
 *     gyre_fields_read(info.request, &fields);
 *     for (size_t i = 0; i < gyre_fields_count(fields); i++) {
 *         gyre_field_info field = {.size = sizeof field};
 *         gyre_field_get(fields, i, &field);
 *         printf("%s at %llu\n", field.name, (unsigned long long)field.offset);
 *     }
 *     gyre_fields_release(fields);
 *
 * Types come from a launched kernel (gyre_kernel_info), an attached queue (gyre_queue_types), a file that was loaded
 * (gyre_types_load, gyre_type_find), or GYRE_TYPE. Offsets are computed from the declaration, and compared with the size and
 * the alignment that the compiler saw.
 *
 * Threads: any function from any thread; fields that were read never change. Stability: as gyre.h.
 */
#ifndef GYRE_FIELDS_H
#define GYRE_FIELDS_H

#include "gyre/gyre.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How the bytes of a type are to be read. New kinds are added at the end. */
typedef enum gyre_type_kind {
    GYRE_KIND_RECORD = 0, /* a struct of fields */
    GYRE_KIND_I8 = 1,
    GYRE_KIND_I16 = 2,
    GYRE_KIND_I32 = 3,
    GYRE_KIND_I64 = 4,
    GYRE_KIND_U8 = 5,
    GYRE_KIND_U16 = 6,
    GYRE_KIND_U32 = 7,
    GYRE_KIND_U64 = 8,
    GYRE_KIND_F32 = 9,
    GYRE_KIND_F64 = 10,
    GYRE_KIND_NONE = 11,     /* gyre_none: no bytes */
    GYRE_KIND_ID128 = 12,    /* 16 bytes, as an RFC 4122 text spells them */
    GYRE_KIND_SPAN = 13,     /* a gyre_part: any number of items (parts.h) */
    GYRE_KIND_UTF8 = 14,     /* a gyre_part: text */
    GYRE_KIND_OPTIONAL = 15, /* a gyre_part: one item or none */
    GYRE_KIND_CHOICE = 16,   /* the struct of a protocol (GYRE_PROTOCOL): one of its choices */
    GYRE_KIND_PACKET = 17    /* a message in a wire form (wire.h) */
} gyre_type_kind;

enum { GYRE_FIELD_DIMENSIONS_MAX = 8 };

/** The fields of one type. */
typedef struct gyre_fields gyre_fields;

/**
 * Reads the fields of a message, state or buffer type. INVALID when the description cannot be read, INCOMPATIBLE when
 * the sizes in it are not those of the declaration. The fields outlive the type that they were read from. Owner of *out: the
 * caller, until gyre_fields_release.
 */
GYRE_API gyre_status gyre_fields_read(const gyre_type *type, gyre_fields **out);
/** Frees the fields, and the names and types that they gave. Accepts NULL. */
GYRE_API void gyre_fields_release(gyre_fields *fields);

typedef struct gyre_fields_info {
    size_t size;
    const char *name; /* the type's; valid until gyre_fields_release */
    gyre_type_kind kind;
    uint32_t fields, choices;
    uint64_t bytes, alignment;
    uint64_t tail;  /* bytes of the largest tail; 0: every message is `bytes` long */
    uint64_t least; /* bytes of a message with an empty tail; else `bytes` */
    /* The type of the items of a span or optional, u8 for a text; else NULL. Valid until gyre_fields_release. */
    const gyre_type *items;
} gyre_fields_info;

/** Describes the type as a whole: fills in the members of *info that its size covers. INVALID when that size is not set. */
GYRE_API gyre_status gyre_fields_info_get(const gyre_fields *fields, gyre_fields_info *info);

/** How many fields the type has; the fields that GYRE_MESSAGE_TAIL adds for itself do not count. 0 for NULL. */
GYRE_API size_t gyre_fields_count(const gyre_fields *fields);

typedef struct gyre_field_info {
    size_t size;
    const char *name;      /* this and `type` are valid until gyre_fields_release */
    const gyre_type *type; /* of one element; gyre_fields_read takes it */
    gyre_type_kind kind;   /* of one element */
    uint32_t dimension_count;
    uint64_t offset; /* bytes from the start of the message */
    uint64_t bytes;  /* of one element */
    uint64_t count;  /* elements in all dimensions together; 1 for a field that is no array */
    uint64_t dimensions[GYRE_FIELD_DIMENSIONS_MAX]; /* outermost first */
} gyre_field_info;

/** Reads a field, counted from 0 in the order of the declaration. INVALID for a field that is not there. */
GYRE_API gyre_status gyre_field_get(const gyre_fields *fields, size_t number, gyre_field_info *info);

/**
 * The type of a choice of a protocol's struct, by its number, which counts from 1 as GYRE_NUMBER does; also the message
 * inside a packet, as choice 1. NULL for a number that is not there. Valid until gyre_fields_release.
 */
GYRE_API const gyre_type *gyre_fields_choice(const gyre_fields *fields, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
