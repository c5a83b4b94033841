/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a message's header in handlers. One text for all dialects, included where gyre_context is known. A field is 0
 * if the queue has no header, or a header that ends before the field. Before the include the dialect defines
 *
 *   GYRE_HEADER_INLINE_                    how functions are declared
 *   GYRE_HEADER_LOAD_(gyre, type, offset)  reads a field of the present message's header; only called when there is
 *                                          a header, and only compiled in kernels with GYRE_HEADED = 1
 *
 * Kernels are compiled with GYRE_HEADED = 1 if a queue of the configuration has headers; other kernels hold no trace
 * of this file.
 */
#ifndef GYRE_DIALECT_HEADER_H
#define GYRE_DIALECT_HEADER_H

#if GYRE_HEADED
#define GYRE_HEADER_SIZE_(gyre) ((gyre)->header ? (gyre)->header_size : 0u)
#define GYRE_HEADER_FIELD_(name_, type_, offset_)                                                            \
    GYRE_HEADER_INLINE_ type_ gyre_header_##name_(const gyre_context *gyre)                                  \
    {                                                                                                        \
        return GYRE_HEADER_SIZE_(gyre) > (offset_) ? GYRE_HEADER_LOAD_(gyre, type_, offset_) : (type_)0;     \
    }
#else
#define GYRE_HEADER_SIZE_(gyre) ((void)(gyre), 0u)
#define GYRE_HEADER_FIELD_(name_, type_, offset_)                                                            \
    GYRE_HEADER_INLINE_ type_ gyre_header_##name_(const gyre_context *gyre)                                  \
    {                                                                                                        \
        (void)gyre;                                                                                          \
        return (type_)0;                                                                                     \
    }
#endif

/** The bytes of header that messages of this queue have: 0, 16, 32, 48 or 64. */
GYRE_HEADER_INLINE_ gyre_u32 gyre_header_size(const gyre_context *gyre)
{
    return GYRE_HEADER_SIZE_(gyre);
}

/* the offsets in gyre_header, which header.h asserts */
GYRE_HEADER_FIELD_(type, gyre_u32, 0)
GYRE_HEADER_FIELD_(priority, gyre_u16, 4)
GYRE_HEADER_FIELD_(id, gyre_u64, 8)
GYRE_HEADER_FIELD_(correlation, gyre_u64, 16)
GYRE_HEADER_FIELD_(deadline_ns, gyre_u64, 24)
GYRE_HEADER_FIELD_(sent_ns, gyre_u64, 32)
GYRE_HEADER_FIELD_(sender, gyre_u32, 40)
GYRE_HEADER_FIELD_(receiver, gyre_u32, 44)
GYRE_HEADER_FIELD_(trace_high, gyre_u64, 48)
GYRE_HEADER_FIELD_(trace_low, gyre_u64, 56)

#endif
