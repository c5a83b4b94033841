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

/* The text of a field list, "f32 a[25];f32 b[25];": what reflection reads. */
#define GYRE_TEXT_1_(text)                    #text
#define GYRE_TEXT_(text)                      GYRE_TEXT_1_(text)
#define GYRE_FIELD_TEXT_(type, declarator)    GYRE_TEXT_(type declarator;)
#define GYRE_FIELD_DECLARE_(type, declarator) type declarator;
#define GYRE_FIELD_TYPE_(type, declarator)    &gyre_type_##type,

/**
 * A device buffer, or a part of one, named inside a message: filled in by gyre_buffer_handle, resolved and
 * checked by gyre_open in the handler. A message of its own kind: its fields show up in layouts.
 */
typedef struct gyre_handle {
    gyre_u64 id;           /* 0: none */
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
#define GYRE_UNUSED_ __attribute__((unused))
#else
#define GYRE_UNUSED_
#endif

/** What is known of a message type at compile time. Offsets are computed from `fields` by the library. */
typedef struct gyre_type {
    const char *name;
    const char *fields; /**< "type declarator;" for each field in order; "" for a scalar */
    gyre_u64 size;      /**< sizeof, as the compiler that built this description saw it */
    gyre_u64 alignment;
    const struct gyre_type *const *field_types; /**< one for each field, then NULL; NULL for a scalar */
} gyre_type;

#define GYRE_SCALAR_(type)                                                                                   \
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

#define GYRE_MESSAGE(name_, LIST_)                                                                           \
    typedef struct name_ {                                                                                   \
        LIST_(GYRE_FIELD_DECLARE_)                                                                           \
    } name_;                                                                                                 \
    static const gyre_type *const gyre_fields_##name_[] GYRE_UNUSED_ = {LIST_(GYRE_FIELD_TYPE_) 0};          \
    static const gyre_type gyre_type_##name_ GYRE_UNUSED_ = {#name_, LIST_(GYRE_FIELD_TEXT_), sizeof(name_), \
                                                             GYRE_ALIGNOF_(name_), gyre_fields_##name_};

static const gyre_type *const gyre_fields_gyre_handle[] GYRE_UNUSED_ = {&gyre_type_u64, &gyre_type_u64,
                                                                        &gyre_type_u64, 0};
static const gyre_type gyre_type_gyre_handle GYRE_UNUSED_ = {"gyre_handle", GYRE_HANDLE_TEXT_,
                                                             sizeof(gyre_handle), GYRE_ALIGNOF_(gyre_handle),
                                                             gyre_fields_gyre_handle};

/** "Nothing": a kernel without replies, state, scratch memory or buffers names this type there. */
typedef struct gyre_none {
    gyre_u8 nothing;
} gyre_none;
static const gyre_type gyre_type_gyre_none GYRE_UNUSED_ = {"gyre_none", "", 0, 1, 0};

/** The description of a declared message: const gyre_type *. */
#define GYRE_TYPE(name_) (&gyre_type_##name_)

#else

/* Device code has no descriptions: the loader finds a message's text by its symbol and computes the layout.
 */
#if defined(GYRE_CUDA_PARTS) /* describes no message: it is linked to kernels that do */
#define GYRE_EXPORTED_TEXT_(symbol, text)
#define GYRE_EXPORTED_LAYOUT_(name_)
#elif defined(GYRE_DIALECT_CUDA)
#define GYRE_EXPORTED_TEXT_(symbol, text) extern "C" __device__ char symbol[] = text;
/* sizeof and alignof, as the device compiler saw them */
#define GYRE_EXPORTED_LAYOUT_(name_)                                                                         \
    extern "C" __device__ gyre_u64 gyre_layout_##name_[2] = {sizeof(name_), alignof(name_)};
#else
#include "gyre/dialect/opencl_items.h"
#define GYRE_EXPORTED_TEXT_(symbol, text)                                                                    \
    __constant char symbol[] = text;                                                                         \
    GYRE_ITEM_(symbol, 0, 0, symbol, sizeof symbol)
#define GYRE_EXPORTED_LAYOUT_(name_) GYRE_ITEM_(gyre_layout_##name_, sizeof(name_), __alignof__(name_), 0, 0)
#endif

#define GYRE_MESSAGE(name_, LIST_)                                                                           \
    typedef struct name_ {                                                                                   \
        LIST_(GYRE_FIELD_DECLARE_)                                                                           \
    } name_;                                                                                                 \
    enum { gyre_size_##name_ = sizeof(name_) };                                                              \
    GYRE_EXPORTED_LAYOUT_(name_)                                                                             \
    GYRE_EXPORTED_TEXT_(gyre_text_##name_, LIST_(GYRE_FIELD_TEXT_))

GYRE_EXPORTED_LAYOUT_(gyre_handle)
GYRE_EXPORTED_TEXT_(gyre_text_gyre_handle, GYRE_HANDLE_TEXT_)

typedef struct gyre_none {
    gyre_u8 nothing;
} gyre_none;
enum gyre_scalar_sizes_ {
    gyre_size_gyre_none = 0,
    gyre_size_gyre_handle = sizeof(gyre_handle),
    gyre_size_i8 = 1,
    gyre_size_i16 = 2,
    gyre_size_i32 = 4,
    gyre_size_i64 = 8,
    gyre_size_u8 = 1,
    gyre_size_u16 = 2,
    gyre_size_u32 = 4,
    gyre_size_u64 = 8,
    gyre_size_f32 = 4,
    gyre_size_f64 = 8
};

#endif

#endif
