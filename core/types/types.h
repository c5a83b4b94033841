/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes layouts of message types: from the text that GYRE_MESSAGE leaves of a struct to fields, offsets, sizes and a hash.
 * Layouts are compared in compare.h, and messages are checked against them in message.h.
 *
 * A layout is made once from a gyre_type, checked against the size and alignment that the compiler saw, and
 * never changes. It owns everything that it points to, also a deep copy of the gyre_type, so it outlives the
 * module that the type came from. Threads: any, once made. Nothing blocks. Texts may come from a plugin or a
 * compiled file: whatever they hold, the answer is a layout or a sentence.
 */
#ifndef GYRE_CORE_TYPES_TYPES_H
#define GYRE_CORE_TYPES_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/message.h"
#include "gyre/ring_layout.h"
#include "gyre/status.h"

enum {
    GYRE_DIMENSIONS_MAX = 8,            /* dimensions of one field */
    GYRE_TYPE_DEPTH_MAX = 16,           /* levels of messages inside messages */
    GYRE_TYPE_FIELDS_MAX = 64 * 1024,   /* fields of one type, including the fields of nested types */
    GYRE_MESSAGE_MAX = GYRE_PAYLOAD_MAX /* bytes of a request or reply */
};
#define GYRE_STATE_MAX (UINT64_C(1) << 32) /* bytes of actor state or of a buffer's element */

typedef enum gyre_scalar {
    GYRE_SCALAR_NO = 0, /* a message with fields */
    GYRE_SCALAR_I8,
    GYRE_SCALAR_I16,
    GYRE_SCALAR_I32,
    GYRE_SCALAR_I64,
    GYRE_SCALAR_U8,
    GYRE_SCALAR_U16,
    GYRE_SCALAR_U32,
    GYRE_SCALAR_U64,
    GYRE_SCALAR_F32,
    GYRE_SCALAR_F64,
    GYRE_SCALAR_NOTHING /* gyre_none: size 0 */
} gyre_scalar;

/** How the bytes of a type are to be read (include/gyre/parts.h). */
typedef enum gyre_shape {
    GYRE_SHAPE_PLAIN = 0, /* a scalar or a record */
    GYRE_SHAPE_ID128,     /* 16 bytes */
    GYRE_SHAPE_SPAN,      /* a gyre_part: any number of `element` */
    GYRE_SHAPE_UTF8,      /* a gyre_part: text */
    GYRE_SHAPE_OPTIONAL,  /* a gyre_part: one `element` or none */
    GYRE_SHAPE_CHOICE,    /* one of `choices`, behind a number that tells which (GYRE_PROTOCOL) */
    GYRE_SHAPE_PACKET     /* `room` bytes: the wire form of `choices[0]`, behind their number */
} gyre_shape;

typedef struct gyre_layout gyre_layout;

typedef struct gyre_field {
    const char *name;
    const gyre_layout *type; /* the layout of one element */
    uint64_t offset;         /* bytes from the start of the message */
    uint64_t count;          /* elements in all dimensions together; 1 for a field that is no array */
    uint32_t dimension_count;
    uint64_t dimensions[GYRE_DIMENSIONS_MAX]; /* outermost first */
} gyre_field;

struct gyre_layout {
    const char *name;
    gyre_scalar scalar;
    uint64_t size, alignment;
    uint64_t hash; /* of `text`: equal for types whose fields have equal names, types and offsets */
    uint32_t field_count;
    const gyre_field *fields; /* in order of declaration, without the fields that make a tail */
    gyre_shape shape;
    const gyre_layout *element;  /* of a span or optional (u8 of a text); else NULL */
    const gyre_layout **choices; /* of a choice, in the order of their numbers, which start at 1 */
    uint32_t choice_count;       /* 1 for a packet; 0 for a type without choices */
    uint64_t room;               /* for a packet: the most bytes on the wire */
    bool has_parts;              /* the type is a part, or has fields that are or have parts */
    uint64_t tail;            /* bytes of the largest tail; 0: none, and every message is `size` bytes long */
    uint64_t least;           /* bytes of a message with nothing in its tail; else `size` */
    const char *text;         /* canonical: "{f32 a[25]@0;{f32 x@0;}4/4 p@100;}104/4", size/alignment */
    const gyre_type *type;    /* a deep copy of what the layout was made from */
    struct gyre_arena *arena; /* holds the layout and all that it points to; NULL in nested layouts */
};

/**
 * Computes the layout of `type`. INVALID when a text cannot be parsed or the type is larger than `size_max`
 * bytes (GYRE_MESSAGE_MAX, GYRE_STATE_MAX); INCOMPATIBLE when size or alignment are not what the compiler
 * saw; EXHAUSTED without memory. Owner of *out: the caller, until gyre_layout_destroy.
 */
gyre_status gyre_layout_create(const gyre_type *type, uint64_t size_max, gyre_layout **out);

/** As gyre_layout_create, for a message or a state: also INVALID when the type has parts (fields with items in a tail) and
 * no tail. */
gyre_status gyre_layout_create_message(const gyre_type *type, uint64_t size_max, gyre_layout **out);

/** Frees a layout and all that it points to. Accepts NULL. */
void gyre_layout_destroy(gyre_layout *layout);

/** The number of the choice whose type has that name; 0 when there is none. */
uint32_t gyre_layout_choice(const gyre_layout *layout, const char *name);

/** The field of that name, or NULL. */
const gyre_field *gyre_layout_field(const gyre_layout *layout, const char *name);

#endif
