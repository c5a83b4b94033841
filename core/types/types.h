/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts of message types: from the text that GYRE_MESSAGE reflects to fields, offsets, sizes and a hash.
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
    GYRE_DIMENSIONS_MAX = 8,            /* of one field */
    GYRE_TYPE_DEPTH_MAX = 16,           /* of messages inside messages */
    GYRE_TYPE_FIELDS_MAX = 64 * 1024,   /* of one type, those of nested types included */
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
    const gyre_layout *type; /* of one element */
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
    const gyre_field *fields; /* in order of declaration; those of users only: see `tail` */
    gyre_shape shape;
    const gyre_layout *element;  /* of a span or optional (u8 of a text); else NULL */
    const gyre_layout **choices; /* of a choice, in the order of their numbers, which start at 1 */
    uint32_t choice_count;       /* 1 of a packet; else 0 */
    uint64_t room;               /* of a packet: bytes on the wire, at most */
    bool has_parts;              /* is a part, or has fields that are or have parts */
    uint64_t tail;            /* bytes of the largest tail; 0: none, and every message is `size` bytes long */
    uint64_t least;           /* bytes of a message with nothing in its tail; else `size` */
    const char *text;         /* canonical: "{f32 a[25]@0;{f32 x@0;}4/4 p@100;}104/4", size/alignment */
    const gyre_type *type;    /* a deep copy of what the layout was made from */
    struct gyre_arena *arena; /* what holds all of it; NULL in nested layouts */
};

/**
 * Computes the layout of `type`. INVALID when a text cannot be parsed or the type is larger than `size_max`
 * bytes (GYRE_MESSAGE_MAX, GYRE_STATE_MAX); INCOMPATIBLE when size or alignment are not what the compiler
 * saw; EXHAUSTED without memory. Owner of *out: the caller, until gyre_layout_destroy.
 */
gyre_status gyre_layout_create(const gyre_type *type, uint64_t size_max, gyre_layout **out);

/** As gyre_layout_create, for a message or state: also INVALID when it has parts and no tail for them. */
gyre_status gyre_layout_create_message(const gyre_type *type, uint64_t size_max, gyre_layout **out);

/** Accepts NULL. */
void gyre_layout_destroy(gyre_layout *layout);

/** The number of the choice that is a type of that name, or 0. */
uint32_t gyre_layout_choice(const gyre_layout *layout, const char *name);

/** The field of that name, or NULL. */
const gyre_field *gyre_layout_field(const gyre_layout *layout, const char *name);

/**
 * OK when both describe the same bytes: fields of equal names, types, offsets. The types' own names do not
 * matter. Else INCOMPATIBLE and a sentence with the first difference and both hashes. `a_owner` and `b_owner`
 * say whose they are ("the kernel", "the caller").
 */
gyre_status gyre_layout_compare(const gyre_layout *a, const char *a_owner, const gyre_layout *b,
                                const char *b_owner);

/**
 * Whether `longer` is `shorter` with fields appended. Without tails they lie behind the shorter type's last
 * byte, so that what each of them knows lies in the same place; with tails gyre_layout_convert leads from one
 * to the other, and the longer type's tail is at least as large. Of several types (GYRE_PROTOCOL) each one of `shorter` has
 * its number and name in `longer`, and is the same or extended there; gyre_layout_convert leads from one to the other.
 */
bool gyre_layout_extends(const gyre_layout *longer, const gyre_layout *shorter);

/**
 * Writes a message with a tail, which was checked, as one of another type, of which one extends the other:
 * fields that only `from` has are left out, those that only `to` has are zero. `out` has to->size bytes.
 * INVALID when the tail does not fit, and for a message of a type that `to` does not have.
 */
gyre_status gyre_layout_convert(const gyre_layout *from, const void *message, const gyre_layout *to,
                                void *out);

/**
 * Whether values of `from` can be taken over as values of `to`, a later type of the same thing: each field is there
 * again, wherever it lies, of the same scalar and at least as long in each dimension; fields may have been added, also in
 * types inside it. With tails what was added is behind the rest, and the tail is as large; of several types
 * (GYRE_PROTOCOL) each has its number still. INCOMPATIBLE with the first field that is not so.
 */
gyre_status gyre_layout_check_adopt(const gyre_layout *from, const gyre_layout *to);
/**
 * Takes over a value of `length` bytes, once gyre_layout_check_adopt said that it can be. `out` has to->size bytes; of
 * a type without a tail, what `from` does not have stays as it is there. *out_length: bytes of the value, as a
 * message. INVALID when the value is none.
 */
gyre_status gyre_layout_adopt(const gyre_layout *from, const void *value, uint64_t length,
                              const gyre_layout *to, void *out, uint64_t *out_length);

/**
 * What moves items between a message and a device's memory while the message is built anew. `carry` takes a
 * part's items away and says where they are; false: they stay. `fetch` brings back those of a far part that
 * `is_ours`, to be written at `items`; false: they cannot be had, and only their size is told then, in a far
 * part that names no buffer. Either may be NULL.
 */
struct gyre_carrier {
    void *context;
    bool (*carry)(void *context, const void *items, uint64_t size, gyre_far *far);
    bool (*is_ours)(void *context, const gyre_far *far);
    bool (*fetch)(void *context, const gyre_far *far, void *items);
};

/** gyre_layout_convert with a carrier; `from` and `to` may be the same. After a failure `out` is a message
 * with a part of what was to be there. */
gyre_status gyre_layout_carry(const gyre_layout *from, const void *message, const gyre_layout *to, void *out,
                              const struct gyre_carrier *carrier);

/**
 * Whether `message`, of `length` bytes at any alignment, is one of this type whose parts all lie in it,
 * aligned, and none over another. INVALID and a sentence with the path of the first field that is wrong.
 * Takes time in proportion to `length`, whatever the bytes are.
 */
gyre_status gyre_layout_check_message(const gyre_layout *layout, const void *message, uint64_t length);

/**
 * Calls `visit` for each part of a message whose items lie in a device buffer, which may change what it is
 * given. A message that gyre_layout_check_message refuses has none.
 */
void gyre_layout_visit_far(const gyre_layout *layout, void *message, uint64_t length,
                           void (*visit)(void *context, gyre_far *far), void *context);

/** Whether a far part names memory of this program: gyre_put_large made it. */
bool gyre_far_is_callers(const gyre_far *far);

/** Empties a message (at any alignment, of layout->size bytes): all fields zero, nothing in its tail. */
void gyre_layout_clear_message(const gyre_layout *layout, void *message);

/**
 * Makes room for zeroed items behind what a message of at most `size` bytes holds. False when there is not
 * enough; nothing has changed then.
 */
bool gyre_part_take(void *message, uint64_t size, uint64_t item_size, uint64_t count, gyre_part *part);

/**
 * Whether gyre_put may say in *part where items are: INVALID unless the message, of `size` bytes of which its first word
 * is there, was begun and the part lies in what it holds.
 */
gyre_status gyre_part_check(const void *message, size_t size, const gyre_part *part);
/** gyre_message_put with arguments that were checked, and a part that may lie anywhere. */
gyre_status gyre_part_put(void *message, size_t size, gyre_part *part, const void *items, size_t item_size,
                          size_t count);

/** Bytes of a message: what its first word says, for a type with a tail; else the type's size. */
uint64_t gyre_layout_length(const gyre_layout *layout, const void *message);

/** Writes "f32[25]" or "point[2][3]", cut to `size` bytes; returns `text`. */
char *gyre_field_type_text(const gyre_field *field, char *text, size_t size);

/** One buffer that a kernel declares. */
typedef struct gyre_buffer_slot {
    const char *name;
    bool writable;           /* declared INOUT */
    const gyre_layout *type; /* of one element */
} gyre_buffer_slot;

typedef struct gyre_buffer_list {
    uint32_t count;
    const gyre_buffer_slot *slots; /* in binding order */
    struct gyre_arena *arena;
} gyre_buffer_list;

/**
 * Reads the declaration of a kernel's buffers, "in f32 weights;inout f32 ranks;" and its element types (see
 * gyre_kernel_record). Fails as gyre_layout_create. Finish with gyre_buffer_list_finish, also after a
 * failure.
 */
gyre_status gyre_buffer_list_init(gyre_buffer_list *list, const char *text, const gyre_type *const *types);
void gyre_buffer_list_finish(gyre_buffer_list *list);

#endif
