/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members that an entry of a list of buffers declares, and the text that describes them: the same in every
 * dialect. c11.h and device.h include it after they define GYRE_GLOBAL and GYRE_HELPER; each of the two then defines
 * GYRE_BUFFERS.
 */
#ifndef GYRE_DIALECT_BUFFERS_H
#define GYRE_DIALECT_BUFFERS_H

#define GYRE_BUFFER_IN_(type, name)                                                                          \
    const GYRE_GLOBAL type *name;                                                                            \
    gyre_u64 name##_count;
#define GYRE_BUFFER_INOUT_(type, name)                                                                       \
    GYRE_GLOBAL type *name;                                                                                  \
    gyre_u64 name##_count;
#define GYRE_BUFFER_IN_TEXT_(type, name)    GYRE_TEXT_(in type name;)
#define GYRE_BUFFER_INOUT_TEXT_(type, name) GYRE_TEXT_(inout type name;)

/* The buffers as a handler sees them that may only read them (GYRE_QUERY). */
#define GYRE_BUFFER_SEE_(type, name)                                                                         \
    gyre_its_seen_->name = gyre_its_buffers_->name;                                                          \
    gyre_its_seen_->name##_count = gyre_its_buffers_->name##_count;
#define GYRE_BUFFERS_SEEN_(name_, LIST_)                                                                     \
    typedef struct gyre_seen_##name_ {                                                                       \
        LIST_(GYRE_BUFFER_IN_, GYRE_BUFFER_IN_)                                                              \
    } gyre_seen_##name_;                                                                                     \
    GYRE_HELPER void gyre_see_##name_(gyre_seen_##name_ *gyre_its_seen_, const name_ *gyre_its_buffers_)     \
    {                                                                                                        \
        LIST_(GYRE_BUFFER_SEE_, GYRE_BUFFER_SEE_)                                                            \
    }
typedef gyre_none gyre_seen_gyre_none;
GYRE_HELPER void gyre_see_gyre_none(gyre_none *seen, const gyre_none *buffers)
{
    (void)seen;
    (void)buffers;
}

#endif
