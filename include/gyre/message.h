/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message declarations: included by the host program and by the kernel, so both see one layout.
 *
 *     #define ADD_REQUEST(FIELD) FIELD(f32, a[25]) FIELD(f32, b[25])
 *     GYRE_MESSAGE(add_request, ADD_REQUEST)
 *
 * declares `typedef struct add_request { f32 a[25]; f32 b[25]; } add_request;` and, on the host and in
 * kernels compiled for the CPU, a `gyre_type` that describes it: GYRE_TYPE(add_request). A field's type is
 * one of i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 or the name of a message declared before. Array lengths are
 * integer literals or macros that expand to them, in one or more dimensions. A field of type gyre_handle
 * names a device buffer (gyre_buffer_handle in gyre.h, gyre_open in kernel.h). Fields keep C's natural
 * alignment; layouts are equal on all compilers, and every backend reports the sizes that its compiler saw,
 * which the core compares at launch.
 *
 * A message may also have parts of changing size, which lie behind its fields, in its tail:
 *
 *     #define TICKS(FIELD)                        \
 *         FIELD(id128, venue) FIELD(utf8, symbol) \
 *         FIELD(span_f64, prices) FIELD(optional_u32, halted)
 *     GYRE_MESSAGE_TAIL(ticks, TICKS, 4096)
 *
 * declares a message whose tail holds at most 4096 bytes; parts.h says which parts there are, how the host
 * builds and reads them, and dialect/parts.h what handlers do with them. docs/messages.md has examples.
 *
 * A kernel may have a handler for each of several message types:
 *
 *     #define DESK(TAKES) TAKES(deposit, balance) TAKES(note, gyre_none)
 *     GYRE_PROTOCOL(desk, DESK)
 *
 * declares desk_request, which is one of deposit and note, and desk_reply, which is one of their replies; a
 * type of either list has no name that is another's. kernel.h says how handlers are declared
 * (GYRE_KERNEL_OF), gyre.h how requests are sent (gyre_send_as).
 *
 * A host file in which names such as u32 mean something else defines GYRE_NO_SHORT_TYPES before it includes any of
 * Gyre's headers. It can do everything except declare messages, because their fields have these types.
 *
 * Stability: declarations compile unchanged within a major version.
 */
#ifndef GYRE_MESSAGE_H
#define GYRE_MESSAGE_H

#include "gyre/types.h"

#ifndef GYRE_NO_SHORT_TYPES
typedef gyre_i8 i8;
typedef gyre_i16 i16;
typedef gyre_i32 i32;
typedef gyre_i64 i64;
typedef gyre_u8 u8;
typedef gyre_u16 u16;
typedef gyre_u32 u32;
typedef gyre_u64 u64;
typedef gyre_f32 f32;
#ifdef GYRE_HAS_F64
typedef gyre_f64 f64;
#endif
#endif

/* The text of a list of fields, "f32 a[25];f32 b[25];". Reflection reads it. */
#define GYRE_TEXT_1_(text)                    #text
#define GYRE_TEXT_(text)                      GYRE_TEXT_1_(text)
#define GYRE_FIELD_TEXT_(type, declarator)    GYRE_TEXT_(type declarator;)
#define GYRE_FIELD_DECLARE_(type, declarator) GYRE_FIELD_NAME_(type) declarator;
#define GYRE_FIELD_TYPE_(type, declarator)    &gyre_type_##type,
#define GYRE_FIELD_PARTS_(type, declarator)   | (int)gyre_parts_##type

/*
 * A field may have the name of its type, which C++ forbids ("changes meaning"). So in C++ the fields are declared by
 * another name of the type.
 */
#if defined(GYRE_DIALECT_C) && defined(__cplusplus)
#define GYRE_FIELD_NAME_(type)        gyre_alias_##type
#define GYRE_ALIAS_(type, named_type) typedef named_type gyre_alias_##type;
#else
#define GYRE_FIELD_NAME_(type) type
#define GYRE_ALIAS_(type, named_type)
#endif

/*
 * Constants of each type at compile time, in every dialect: its size, the size of a message of that type with an empty
 * tail, and whether it has parts. Kernels also get functions of each type (dialect/parts.h).
 */
#define GYRE_NUMBERS_(type, size, parts)                                                                     \
    gyre_size_##type = size, gyre_least_##type = size, gyre_parts_##type = parts
#define GYRE_MESSAGE_NUMBERS_(name_, LIST_, least_)                                                          \
    enum {                                                                                                   \
        gyre_size_##name_ = sizeof(name_),                                                                   \
        gyre_least_##name_ = (least_),                                                                       \
        gyre_parts_##name_ = 0 LIST_(GYRE_FIELD_PARTS_)                                                      \
    };
#define GYRE_MESSAGE_FUNCTIONS_(name_, LIST_)
#define GYRE_CHOICE_FUNCTIONS_(name_, least_)
#define GYRE_TAIL_FUNCTIONS_(name_, LIST_)
#define GYRE_PART_FUNCTIONS_(name_, element_, most_)

enum gyre_scalar_numbers_ {
    GYRE_NUMBERS_(gyre_none, 0, 0),
    GYRE_NUMBERS_(i8, 1, 0),
    GYRE_NUMBERS_(i16, 2, 0),
    GYRE_NUMBERS_(i32, 4, 0),
    GYRE_NUMBERS_(i64, 8, 0),
    GYRE_NUMBERS_(u8, 1, 0),
    GYRE_NUMBERS_(u16, 2, 0),
    GYRE_NUMBERS_(u32, 4, 0),
    GYRE_NUMBERS_(u64, 8, 0),
    GYRE_NUMBERS_(f32, 4, 0),
    GYRE_NUMBERS_(f64, 8, 0),
    GYRE_NUMBERS_(gyre_handle, 24, 0)
};

#define GYRE_STRUCT_(name_, LIST_)                                                                           \
    typedef struct name_ {                                                                                   \
        LIST_(GYRE_FIELD_DECLARE_)                                                                           \
    } name_;                                                                                                 \
    GYRE_MESSAGE_NUMBERS_(name_, LIST_, sizeof(name_))
/*
 * The struct of a message with a tail. `gyre_used` bytes of it are the message; the remaining bytes of the tail mean
 * nothing. The tail is made of words of 8 bytes, so that its begin follows from the size of the fields before it: not
 * every compiler of devices has offsetof.
 */
#define GYRE_TAIL_STRUCT_(name_, LIST_, tail_)                                                               \
    struct gyre_before_tail_##name_ {                                                                        \
        gyre_u32 gyre_used;                                                                                  \
        LIST_(GYRE_FIELD_DECLARE_)                                                                           \
    };                                                                                                       \
    typedef struct name_ {                                                                                   \
        gyre_u32 gyre_used;                                                                                  \
        LIST_(GYRE_FIELD_DECLARE_)                                                                           \
        gyre_u64 gyre_tail[((tail_) + 7) / 8];                                                               \
    } name_;                                                                                                 \
    GYRE_MESSAGE_NUMBERS_(name_, LIST_, (sizeof(struct gyre_before_tail_##name_) + 7) / 8 * 8)
#define GYRE_TAIL_TEXT_(LIST_, tail_)                                                                        \
    "gyre_used gyre_used;" LIST_(GYRE_FIELD_TEXT_) GYRE_TEXT_(gyre_tail gyre_tail[((tail_) + 7) / 8];)

/*
 * The struct of a protocol's requests or replies (desk_request, desk_reply), which holds one message of any of the
 * listed types: how many bytes are in use, the number of the message's type (counted from 1), and the message.
 * GYRE_NUMBER(desk, note) is the number of a note in desk_request, and of the reply to a note in desk_reply.
 */
#define GYRE_CHOICE_FRONT 8
#define GYRE_CHOICE_STRUCT_(name_, LIST_, MEMBER_)                                                           \
    typedef struct name_ {                                                                                   \
        gyre_u32 gyre_used, gyre_choice;                                                                     \
        union {                                                                                              \
            gyre_u64 gyre_words[1];                                                                          \
            LIST_(MEMBER_)                                                                                   \
        } gyre_one;                                                                                          \
    } name_;                                                                                                 \
    enum {                                                                                                   \
        gyre_size_##name_ = sizeof(name_),                                                                   \
        gyre_least_##name_ = GYRE_CHOICE_FRONT,                                                              \
        gyre_parts_##name_ = 0                                                                               \
    };
#define GYRE_TAKEN_MEMBER_(request_, reply_) request_ gyre_of_##request_;
#define GYRE_GIVEN_MEMBER_(request_, reply_) reply_ gyre_of_##request_;
#define GYRE_TAKEN_TEXT_(request_, reply_)   GYRE_TEXT_(request_ choice[];)
#define GYRE_GIVEN_TEXT_(request_, reply_)   GYRE_TEXT_(reply_ choice[];)
#define GYRE_TAKEN_TYPE_(request_, reply_)   &gyre_type_##request_,
#define GYRE_GIVEN_TYPE_(request_, reply_)   &gyre_type_##reply_,
#define GYRE_CHOICE_TEXT_                    "gyre_used gyre_used;u32 gyre_choice;"

/*
 * The struct of a message in a wire form, as queues with `wire` carry it: how many bytes are in use, including these
 * four, and the bytes. Users of such a queue see the bytes alone.
 */
#define GYRE_PACKET_FRONT 4

/**
 * A device buffer, or a part of one, named inside a message: filled in by gyre_buffer_handle, resolved and
 * checked by gyre_open in the handler. A message of its own kind: its fields show up in layouts.
 */
typedef struct gyre_handle {
    gyre_u64 id;           /* 0: names no buffer */
    gyre_u64 offset, size; /* bytes */
} gyre_handle;
#define GYRE_HANDLE_TEXT_ "u64 id;u64 offset;u64 size;"

#if defined(GYRE_DIALECT_C)

#ifdef __cplusplus
#define GYRE_ALIGNOF_ alignof
#else
#define GYRE_ALIGNOF_ _Alignof
#endif
#if defined(__GNUC__)
#define GYRE_UNUSED_ __attribute__((__unused__))
#else
#define GYRE_UNUSED_
#endif

/** The description of a message type at compile time. The library computes the offsets from `fields`. */
typedef struct gyre_type {
    const char *name;
    const char *fields; /**< "type declarator;" for each field in order; "" for a scalar */
    gyre_u64 size;      /**< sizeof, as the compiler that built this description saw it */
    gyre_u64 alignment;
    const struct gyre_type *const *field_types; /**< one for each field, then NULL; NULL for a scalar */
} gyre_type;

#define GYRE_SCALAR_(type)                                                                                   \
    GYRE_ALIAS_(type, gyre_##type)                                                                           \
    static const gyre_type gyre_type_##type GYRE_UNUSED_ = {#type, "", sizeof(gyre_##type),                  \
                                                            GYRE_ALIGNOF_(gyre_##type), 0};
GYRE_SCALAR_(i8)
GYRE_SCALAR_(i16)
GYRE_SCALAR_(i32)
GYRE_SCALAR_(i64)
GYRE_SCALAR_(u8)
GYRE_SCALAR_(u16)
GYRE_SCALAR_(u32)
GYRE_SCALAR_(u64)
GYRE_SCALAR_(f32)
GYRE_SCALAR_(f64)

/* the types of the two fields that a tail adds to a message */
static const gyre_type gyre_type_gyre_used GYRE_UNUSED_ = {"gyre_used", "", 4, 4, 0};
static const gyre_type gyre_type_gyre_tail GYRE_UNUSED_ = {"gyre_tail", "", 8, 8, 0};

#define GYRE_DESCRIBE_TYPE_(name_, text_, ...)                                                               \
    GYRE_ALIAS_(name_, name_)                                                                                \
    static const gyre_type *const gyre_fields_##name_[] GYRE_UNUSED_ = {__VA_ARGS__ 0};                      \
    static const gyre_type gyre_type_##name_ GYRE_UNUSED_ = {#name_, text_, sizeof(name_),                   \
                                                             GYRE_ALIGNOF_(name_), gyre_fields_##name_};

GYRE_ALIAS_(gyre_handle, gyre_handle)
static const gyre_type *const gyre_fields_gyre_handle[] GYRE_UNUSED_ = {&gyre_type_u64, &gyre_type_u64,
                                                                        &gyre_type_u64, 0};
static const gyre_type gyre_type_gyre_handle GYRE_UNUSED_ = {"gyre_handle", GYRE_HANDLE_TEXT_,
                                                             sizeof(gyre_handle), GYRE_ALIGNOF_(gyre_handle),
                                                             gyre_fields_gyre_handle};

#define GYRE_MESSAGE(name_, LIST_)                                                                           \
    GYRE_STRUCT_(name_, LIST_)                                                                               \
    GYRE_DESCRIBE_TYPE_(name_, LIST_(GYRE_FIELD_TEXT_), LIST_(GYRE_FIELD_TYPE_))                             \
    GYRE_MESSAGE_FUNCTIONS_(name_, LIST_)
#define GYRE_MESSAGE_TAIL(name_, LIST_, tail_)                                                               \
    GYRE_TAIL_STRUCT_(name_, LIST_, tail_)                                                                   \
    GYRE_DESCRIBE_TYPE_(name_, GYRE_TAIL_TEXT_(LIST_, tail_), &gyre_type_gyre_used,                          \
                        LIST_(GYRE_FIELD_TYPE_) & gyre_type_gyre_tail, )                                     \
    GYRE_TAIL_FUNCTIONS_(name_, LIST_)

#define GYRE_CHOICE_(name_, LIST_, MEMBER_, TEXT_, TYPE_)                                                    \
    GYRE_CHOICE_STRUCT_(name_, LIST_, MEMBER_)                                                               \
    GYRE_DESCRIBE_TYPE_(name_, GYRE_CHOICE_TEXT_ LIST_(TEXT_), &gyre_type_gyre_used, &gyre_type_u32,         \
                        LIST_(TYPE_))                                                                        \
    GYRE_CHOICE_FUNCTIONS_(name_, GYRE_CHOICE_FRONT)
#define GYRE_DESCRIBE_PACKET_(packet_, message_, most_)                                                      \
    GYRE_DESCRIBE_TYPE_(packet_, "gyre_used gyre_used;" GYRE_TEXT_(message_ gyre_wire[most_];),              \
                        &gyre_type_gyre_used, &gyre_type_##message_, )
#define GYRE_NUMBER_MEMBER_(request_, reply_) gyre_u8 gyre_number_##request_;
#define GYRE_PROTOCOL(name_, LIST_)                                                                          \
    struct gyre_numbers_of_##name_ {                                                                         \
        gyre_u8 gyre_no_number;                                                                              \
        LIST_(GYRE_NUMBER_MEMBER_)                                                                           \
    };                                                                                                       \
    GYRE_CHOICE_(name_##_request, LIST_, GYRE_TAKEN_MEMBER_, GYRE_TAKEN_TEXT_, GYRE_TAKEN_TYPE_)             \
    GYRE_CHOICE_(name_##_reply, LIST_, GYRE_GIVEN_MEMBER_, GYRE_GIVEN_TEXT_, GYRE_GIVEN_TYPE_)
/** The number of request type `request_` in a protocol, a constant; on the host. */
#define GYRE_NUMBER(name_, request_)                                                                         \
    ((gyre_u32)offsetof(struct gyre_numbers_of_##name_, gyre_number_##request_))

/** "Nothing": a kernel without replies, state, scratch memory or buffers names this type there. */
typedef struct gyre_none {
    gyre_u8 nothing;
} gyre_none;
static const gyre_type gyre_type_gyre_none GYRE_UNUSED_ = {"gyre_none", "", 0, 1, 0};

/** The description of a declared message: const gyre_type *. */
#define GYRE_TYPE(name_) (&gyre_type_##name_)

#else

/* Device code has no descriptions: the loader finds a message's text by its symbol and computes the layout. */
#if defined(GYRE_CUDA_PARTS) /* the parts describe no message: they are linked to kernels that do */
#define GYRE_EXPORTED_TEXT_(symbol, text)
#define GYRE_EXPORTED_LAYOUT_(name_)
#elif defined(GYRE_DIALECT_CUDA)
#define GYRE_EXPORTED_TEXT_(symbol, text) extern "C" __device__ char symbol[] = text;
/* sizeof and alignof of the message, as the device's compiler saw them */
#define GYRE_EXPORTED_LAYOUT_(name_)                                                                         \
    extern "C" __device__ gyre_u64 gyre_layout_##name_[2] = {sizeof(name_), alignof(name_)};
#else
#include "gyre/dialect/opencl_items.h"
#define GYRE_EXPORTED_TEXT_(symbol, text)                                                                    \
    __constant char symbol[] = text;                                                                         \
    GYRE_ITEM_(symbol, 0, 0, symbol, sizeof symbol)
#define GYRE_EXPORTED_LAYOUT_(name_) GYRE_ITEM_(gyre_layout_##name_, sizeof(name_), __alignof__(name_), 0, 0)
#endif

#define GYRE_DESCRIBE_TYPE_(name_, text_)                                                                    \
    GYRE_EXPORTED_LAYOUT_(name_)                                                                             \
    GYRE_EXPORTED_TEXT_(gyre_text_##name_, text_)

#define GYRE_MESSAGE(name_, LIST_)                                                                           \
    GYRE_STRUCT_(name_, LIST_)                                                                               \
    GYRE_DESCRIBE_TYPE_(name_, LIST_(GYRE_FIELD_TEXT_))                                                      \
    GYRE_MESSAGE_FUNCTIONS_(name_, LIST_)
#define GYRE_MESSAGE_TAIL(name_, LIST_, tail_)                                                               \
    GYRE_TAIL_STRUCT_(name_, LIST_, tail_)                                                                   \
    GYRE_DESCRIBE_TYPE_(name_, GYRE_TAIL_TEXT_(LIST_, tail_))                                                \
    GYRE_TAIL_FUNCTIONS_(name_, LIST_)

#define GYRE_DESCRIBE_PACKET_(packet_, message_, most_)                                                      \
    GYRE_DESCRIBE_TYPE_(packet_, "gyre_used gyre_used;" GYRE_TEXT_(message_ gyre_wire[most_];))
#define GYRE_CHOICE_(name_, LIST_, MEMBER_, TEXT_)                                                           \
    GYRE_CHOICE_STRUCT_(name_, LIST_, MEMBER_)                                                               \
    GYRE_DESCRIBE_TYPE_(name_, GYRE_CHOICE_TEXT_ LIST_(TEXT_))                                               \
    GYRE_CHOICE_FUNCTIONS_(name_, GYRE_CHOICE_FRONT)
#define GYRE_PROTOCOL(name_, LIST_)                                                                          \
    GYRE_CHOICE_(name_##_request, LIST_, GYRE_TAKEN_MEMBER_, GYRE_TAKEN_TEXT_)                               \
    GYRE_CHOICE_(name_##_reply, LIST_, GYRE_GIVEN_MEMBER_, GYRE_GIVEN_TEXT_)

GYRE_EXPORTED_LAYOUT_(gyre_handle)
GYRE_EXPORTED_TEXT_(gyre_text_gyre_handle, GYRE_HANDLE_TEXT_)

typedef struct gyre_none {
    gyre_u8 nothing;
} gyre_none;

#endif

/**
 * Says how a message looks on the wire of MemoryPack: GYRE_WIRE(add_request, "form=packed order=b,a"). `gyre wire`,
 * `gyre encode` and `gyre decode` read this from the file. docs/messages.md lists the words. The message itself stays
 * as it is.
 */
#define GYRE_WIRE(name_, text_) enum { gyre_wire_of_##name_ = gyre_size_##name_ };

#include "gyre/parts.h"

#endif
