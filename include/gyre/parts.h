/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variable parts of messages: the types that a field of a message with a tail may have beside scalars, arrays and
 * records, and how the host builds and reads them. Included by message.h, in every dialect.
 *
 *     id128                   16 bytes, as an RFC 4122 text spells them
 *     utf8                    text
 *     span_T                  any number of T; T of i8 .. f64, utf8, id128
 *     optional_T              one T or none
 *     GYRE_SPAN(name, T)      declares `name`, any number of T; T any type declared before,
 *                             also a record with parts of its own
 *     GYRE_OPTIONAL(name, T)  declares `name`, one T or none
 *
 * A part is {offset, count}: `count` items from byte `offset` of the message on, in its tail. Items lie at a
 * multiple of the largest power of two up to 8 that divides their size; parts do not overlap; an empty part
 * is {0, 0}. A message is `gyre_used` bytes long, the first word of its struct; only these bytes travel.
 *
 * The host begins a message, which empties it, and puts items behind what is there:
 *
 *     ticks message;
 *     gyre_begin(&message);
 *     status = gyre_put_text(&message, &message.symbol, "ACME");
 *     status = gyre_put(&message, &message.prices, prices, 3);        (gyre.h)
 *     status = gyre_send(queue, &message, sizeof message, NULL, deadline);
 *     ...
 *     const f64 *prices = gyre_items(f64, &message, message.prices);  (NULL: empty, or not in the message)
 *
 * A span or text whose items have no parts may also lie in a device buffer, and is then limited only by the buffer's
 * size. gyre_put_buffer (gyre.h) puts a gyre_far into the tail, which tells where the items lie, and handlers read
 * them like any others.
 *
 * Records with parts are put first and their parts afterwards, through the pointer that gyre_items gives.
 * Handlers: dialect/parts.h. Stability: declarations compile unchanged within a major version.
 */
#ifndef GYRE_PARTS_H
#define GYRE_PARTS_H

#include "gyre/message.h"

typedef struct gyre_part {
    gyre_u32 offset; /* bytes from the start of the message */
    gyre_u32 count;  /* items */
} gyre_part;

/*
 * This bit in a part's offset says that the part is far (its items lie in a device buffer). The other bits are the
 * offset of its gyre_far.
 */
#define GYRE_PART_FAR 0x80000000u
/** True when a part's items lie in a device buffer. An empty part may have any offset. */
#define gyre_is_far(part) ((part).count != 0 && ((part).offset & GYRE_PART_FAR) != 0)

/*
 * Where the items of a far part (a part whose items lie in a device buffer) are. The device compares it with its own
 * table before the handler runs.
 */
typedef struct gyre_far {
    gyre_handle handle;
    gyre_u64 address; /* the first item's address, as the device sees it */
} gyre_far;

/** True when an optional field has a value. */
#define gyre_has(part) ((part).count != 0)

#if defined(GYRE_DIALECT_C)

#define GYRE_DECLARE_PART_(name_, element_, kind_, most_)                                                    \
    typedef gyre_part name_;                                                                                 \
    enum { gyre_size_##name_ = 8, gyre_least_##name_ = 8, gyre_parts_##name_ = 1 };                          \
    GYRE_DESCRIBE_TYPE_(name_, GYRE_TEXT_(u32 offset; u32 count; element_ kind_[];), &gyre_type_u32,         \
                        &gyre_type_u32, &gyre_type_##element_, )                                             \
    GYRE_PART_FUNCTIONS_(name_, element_, most_)
#define GYRE_BUILT_IN_PART_(name_, element_, kind_, most_) GYRE_DECLARE_PART_(name_, element_, kind_, most_)

#ifdef __cplusplus
extern "C" {
#endif

#define gyre_begin(message)                                                                                  \
    gyre_begin_message_((message),                                                                           \
                        (gyre_u32)((const gyre_u8 *)(message)->gyre_tail - (const gyre_u8 *)(message)))

static inline void gyre_begin_message_(void *message, gyre_u32 least)
{
    gyre_u8 *byte = (gyre_u8 *)message;
    for (gyre_u32 i = 0; i < least; i++)
        byte[i] = 0;
    *(gyre_u32 *)message = least;
}

static inline gyre_u32 gyre_item_alignment_(gyre_u32 size)
{
    const gyre_u32 power = size & (0u - size);
    return power > 8 || power == 0 ? 8 : power;
}

/**
 * The first item of a part; NULL when the part is empty, or is not wholly in the message. `message` is the whole
 * message that was sent or received, with its tail. For a part of a record inside the message it is also the whole
 * message.
 */
#define gyre_items(type, message, part)                                                                      \
    ((type *)gyre_items_(((void)sizeof((message)->gyre_used), (message)), sizeof(*(message)), (part),        \
                         (gyre_u32)sizeof(type)))

/**
 * A text as the two arguments of printf's "%.*s"; no characters when the text is empty or not wholly in the message.
 */
#define GYRE_TEXT_ARGS(message, part)                                                                        \
    (gyre_items(char, (message), (part)) ? (int)(part).count : 0),                                           \
        (gyre_items(char, (message), (part)) ? gyre_items(const char, (message), (part)) : "")

static inline void *gyre_items_(const void *message, size_t size, gyre_part part, gyre_u32 item_size)
{
    const gyre_u32 used = *(const gyre_u32 *)message;
    const int within = used <= size && part.offset <= used && part.count > 0 &&
                       part.count <= (used - part.offset) / item_size &&
                       part.offset % gyre_item_alignment_(item_size) == 0;
    return within ? (void *)((gyre_u8 *)(gyre_u64)(size_t)message + part.offset) : (void *)0;
}

#ifdef __cplusplus
}
#endif

#else

/*
 * The device's backend knows the parts that this file declares by name (GYRE_BUILT_IN_TYPES_), and the parts that
 * users declare by text.
 */
#define GYRE_BUILT_IN_PART_(name_, element_, kind_, most_)                                                   \
    typedef gyre_part name_;                                                                                 \
    enum { gyre_size_##name_ = 8, gyre_least_##name_ = 8, gyre_parts_##name_ = 1 };
#define GYRE_DECLARE_PART_(name_, element_, kind_, most_)                                                    \
    GYRE_BUILT_IN_PART_(name_, element_, kind_, most_)                                                       \
    GYRE_DESCRIBE_TYPE_(name_, GYRE_TEXT_(u32 offset; u32 count; element_ kind_[];))                         \
    GYRE_PART_FUNCTIONS_(name_, element_, most_)

#endif

#define GYRE_SPAN(name_, element_)     GYRE_DECLARE_PART_(name_, element_, span, 0xffffffffu)
#define GYRE_OPTIONAL(name_, element_) GYRE_DECLARE_PART_(name_, element_, optional, 1)

/* ---- built-in parts ---- */

typedef struct id128 {
    gyre_u8 bytes[16];
} id128;
enum { gyre_size_id128 = 16, gyre_least_id128 = 16, gyre_parts_id128 = 0 };
#if defined(GYRE_DIALECT_C)
GYRE_DESCRIBE_TYPE_(id128, "u8 bytes[16];", &gyre_type_u8, )
#endif

GYRE_BUILT_IN_PART_(utf8, u8, utf8, 0xffffffffu)
#define GYRE_SCALAR_PARTS_(PART)                                                                             \
    PART(span_i8, i8, span, 0xffffffffu)                                                                     \
    PART(span_i16, i16, span, 0xffffffffu)                                                                   \
    PART(span_i32, i32, span, 0xffffffffu)                                                                   \
    PART(span_i64, i64, span, 0xffffffffu)                                                                   \
    PART(span_u8, u8, span, 0xffffffffu)                                                                     \
    PART(span_u16, u16, span, 0xffffffffu)                                                                   \
    PART(span_u32, u32, span, 0xffffffffu)                                                                   \
    PART(span_u64, u64, span, 0xffffffffu)                                                                   \
    PART(span_f32, f32, span, 0xffffffffu)                                                                   \
    PART(span_f64, f64, span, 0xffffffffu)                                                                   \
    PART(span_id128, id128, span, 0xffffffffu)                                                               \
    PART(span_utf8, utf8, span, 0xffffffffu)                                                                 \
    PART(optional_i8, i8, optional, 1)                                                                       \
    PART(optional_i16, i16, optional, 1)                                                                     \
    PART(optional_i32, i32, optional, 1)                                                                     \
    PART(optional_i64, i64, optional, 1)                                                                     \
    PART(optional_u8, u8, optional, 1)                                                                       \
    PART(optional_u16, u16, optional, 1)                                                                     \
    PART(optional_u32, u32, optional, 1)                                                                     \
    PART(optional_u64, u64, optional, 1)                                                                     \
    PART(optional_f32, f32, optional, 1)                                                                     \
    PART(optional_f64, f64, optional, 1)                                                                     \
    PART(optional_id128, id128, optional, 1)                                                                 \
    PART(optional_utf8, utf8, optional, 1)
GYRE_SCALAR_PARTS_(GYRE_BUILT_IN_PART_)

/*
 * The descriptions of all types that a declaration may name without declaring them, each followed by a comma: for
 * backends whose devices keep no text of these types.
 */
#if defined(GYRE_DIALECT_C)
#define GYRE_TYPE_OF_PART_(name_, element_, kind_, most_) &gyre_type_##name_,
#define GYRE_BUILT_IN_TYPES_                                                                                 \
    &gyre_type_i8, &gyre_type_i16, &gyre_type_i32, &gyre_type_i64, &gyre_type_u8, &gyre_type_u16,            \
        &gyre_type_u32, &gyre_type_u64, &gyre_type_f32, &gyre_type_f64, &gyre_type_gyre_none,                \
        &gyre_type_gyre_used, &gyre_type_gyre_tail, &gyre_type_gyre_handle, &gyre_type_id128,                \
        &gyre_type_utf8, GYRE_SCALAR_PARTS_(GYRE_TYPE_OF_PART_)
#endif

#endif
