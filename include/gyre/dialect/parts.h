/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages with tails, for handlers, in every dialect. Included by kernel.h behind the dialect.
 *
 *     const GYRE_GLOBAL T *gyre_items(T, message, part)   the first item
 *     GYRE_GLOBAL T *gyre_writable(T, reply, part)        the first item of a reply's part, to be written
 *     T gyre_get(gyre, T, message, part, i)               item i; when there is none, it fails the message
 *                                                         and returns an unspecified value
 *     void gyre_set(gyre, T, reply, part, i, value)       item i; fails the message when there is none
 *     gyre_part gyre_new(gyre, T, reply, count)           room for `count` items behind what the reply holds;
 *                                                         fails the message and is empty when they do not fit
 *     gyre_part gyre_copy(gyre, T, reply, message, part)  new items, equal to those of another part of T; T
 *                                                         without parts of its own
 *     gyre_part gyre_new_text(gyre, reply, "text")        the bytes of a literal
 *     gyre_part gyre_new_in(gyre, T, reply, handle, first, count)
 *                                                         a part that names `count` items of a buffer, from
 *                                                         item `first` on; `handle` (a gyre_handle) names the
 *                                                         buffer. Only the items' name travels in the reply.
 *                                                         Fails the message, with nothing in the reply, when
 *                                                         the buffer does not hold the items
 *     gyre_has(part)                                      whether an optional field is there
 *     void gyre_cut(gyre, T, reply, part, count)          shortens a part of the reply to `count` items, and
 *                                                         drops all that was made behind it; if the part is
 *                                                         in a buffer, its name becomes shorter. An empty part is
 *                                                         nowhere, so nothing is behind it. Fails the
 *                                                         message, and changes nothing, when the part has
 *                                                         fewer items or is not in the reply
 *     void gyre_begin(message)                            empties a second message with a tail, which lies in an
 *                                                         item of the reply or of a buffer; these functions
 *                                                         then work on it as on a reply
 *
 * Every part of a request is checked before its handler is called: offset, count, alignment, and that parts
 * do not overlap. A wrong request becomes a failed message (GYRE_FAILURE_PART) whose text names the field, and
 * its handler never runs. So gyre_items needs no check of its own, and gyre_get only checks the index.
 *
 * A part may be far (parts.h): its items lie in a device buffer, whose name, bounds and address are checked as by
 * gyre_open; a fault there is GYRE_FAILURE_BUFFER. Handlers see no difference.
 *
 * A reply's part is far when gyre_new_in made it: the receiver reads it with gyre_fetch (gyre.h).
 *
 * A reply with a tail is empty when its handler is called. In block kernels lane 0 alone calls gyre_new,
 * gyre_copy, gyre_new_text, gyre_new_in and gyre_cut; the other lanes see the new parts after a barrier.
 */
#ifndef GYRE_DIALECT_PARTS_H
#define GYRE_DIALECT_PARTS_H

#ifndef GYRE_LITERAL_
#define GYRE_LITERAL_
#endif
#ifndef GYRE_STORES_ /* said of bytes that a function of the dialect is about to write for a handler */
#define GYRE_STORES_(pointer, size) ((void)0)
#endif
#ifndef GYRE_LATE_
#define GYRE_LATE_ GYRE_HELPER /* a function that costs the compiler little if nothing calls it */
#endif

/*
 * Zeroes new items of a reply to another program, so that no bytes of this program, or of other clients' messages,
 * travel. A dialect whose handlers have to do that defines GYRE_FOREIGN_(gyre): whether the reply goes to another program.
 */
#ifdef GYRE_FOREIGN_
GYRE_LATE_ void gyre_zero_(const gyre_context *gyre, GYRE_GLOBAL gyre_u8 *bytes, gyre_u32 size)
{
    if (!GYRE_FOREIGN_(gyre))
        return;
    for (gyre_u32 i = 0; i < size; i++)
        bytes[i] = 0;
}
#else
#define gyre_zero_(gyre, bytes, size) ((void)(gyre), (void)(bytes), (void)(size))
#endif

/* ---- checking ---- */

/**
 * The bounds in which a message's parts may lie, and how many bytes of its tail belong to no part that was seen so
 * far.
 */
typedef struct gyre_bounds_ {
    gyre_u32 least, used, left;
    gyre_i32 code;                                  /* the code of the failure, when a part is wrong */
    const GYRE_TABLE_ gyre_control_handle *handles; /* for far parts (their items lie in a device buffer) */
} gyre_bounds_;

#ifndef GYRE_DIALECT_C
GYRE_LATE_ gyre_u32 gyre_item_alignment_(gyre_u32 size)
{
    const gyre_u32 power = size & (0u - size);
    return power > 8 || power == 0 ? 8 : power;
}
#endif

#define GYRE_OUTSIDE_ "o"
#define GYRE_OVERLAP_ "v"

/*
 * Checks a far part (its items lie in a device buffer). Writes nothing: either the message's maker knew the address,
 * or the message fails.
 */
GYRE_LATE_ GYRE_LITERAL_ const char *gyre_far_wrong_(const GYRE_GLOBAL gyre_u8 *message, gyre_part part,
                                                     gyre_u32 size, gyre_bounds_ *bounds)
{
    const gyre_u32 at = part.offset & ~GYRE_PART_FAR;
    gyre_u64 address = 0;
    if (at < bounds->least || at > bounds->used || bounds->used - at < sizeof(gyre_far) || at % 8 != 0)
        return GYRE_OUTSIDE_;
    if (bounds->left < sizeof(gyre_far))
        return GYRE_OVERLAP_;
    bounds->left -= (gyre_u32)sizeof(gyre_far);
    const gyre_far far = *(const GYRE_GLOBAL gyre_far *)(const GYRE_GLOBAL void *)(message + at);
    GYRE_LITERAL_ const char *fault = gyre_handle_find_(bounds->handles, far.handle, size, &address);
    if (!fault && far.handle.size != (gyre_u64)part.count * size)
        fault = "the span has another size than its handle";
    if (!fault && far.address != address)
        fault = "the buffer was freed or lies elsewhere";
    if (fault)
        bounds->code = GYRE_FAILURE_BUFFER;
    return fault;
}

/*
 * Returns the fault of a part; 0: it has none. Callers add the field's name on the way back. Because parts must not
 * overlap, the time for the check is bounded, too.
 */
GYRE_LATE_ GYRE_LITERAL_ const char *gyre_part_wrong_(const GYRE_GLOBAL gyre_u8 *message, gyre_part part,
                                                      gyre_u32 size, gyre_u32 most, int may_be_far,
                                                      gyre_bounds_ *bounds)
{
    if (part.count == 0)
        return 0;
    if (part.offset < bounds->least || part.offset > bounds->used || part.count > most ||
        part.count > (bounds->used - part.offset) / size || part.offset % gyre_item_alignment_(size) != 0)
        return gyre_is_far(part) && may_be_far ? gyre_far_wrong_(message, part, size, bounds) : GYRE_OUTSIDE_;
    if (part.count * size > bounds->left)
        return GYRE_OVERLAP_;
    bounds->left -= part.count * size;
    return 0;
}

GYRE_LATE_ GYRE_LITERAL_ const char *gyre_wrong_in_(GYRE_LITERAL_ const char *wrong,
                                                    GYRE_LITERAL_ const char *outside,
                                                    GYRE_LITERAL_ const char *overlap)
{
    if (wrong[0] && !wrong[1])
        return wrong[0] == 'o' ? outside : overlap;
    return wrong;
}

/* gyre_check_T(message, at, bounds) returns the fault of the T at byte `at`, or 0. */
#define gyre_check_i8(message, at, bounds)          0
#define gyre_check_i16(message, at, bounds)         0
#define gyre_check_i32(message, at, bounds)         0
#define gyre_check_i64(message, at, bounds)         0
#define gyre_check_u8(message, at, bounds)          0
#define gyre_check_u16(message, at, bounds)         0
#define gyre_check_u32(message, at, bounds)         0
#define gyre_check_u64(message, at, bounds)         0
#define gyre_check_f32(message, at, bounds)         0
#define gyre_check_f64(message, at, bounds)         0
#define gyre_check_id128(message, at, bounds)       0
#define gyre_check_gyre_handle(message, at, bounds) 0

#undef GYRE_PART_FUNCTIONS_
#define GYRE_PART_FUNCTIONS_(name_, element_, most_)                                                         \
    GYRE_LATE_ GYRE_LITERAL_ const char *gyre_check_##name_(                                                 \
        const GYRE_GLOBAL gyre_u8 *gyre_its_message_, gyre_u32 gyre_its_at_, gyre_bounds_ *gyre_its_bounds_) \
    {                                                                                                        \
        const gyre_part gyre_its_part_ =                                                                     \
            *(const GYRE_GLOBAL gyre_part *)(const GYRE_GLOBAL void *)(gyre_its_message_ + gyre_its_at_);    \
        GYRE_LITERAL_ const char *gyre_its_wrong_ =                                                          \
            gyre_part_wrong_(gyre_its_message_, gyre_its_part_, gyre_size_##element_, most_,                 \
                             !gyre_parts_##element_ && (most_) > 1, gyre_its_bounds_);                       \
        for (gyre_u32 gyre_its_i_ = 0;                                                                       \
             gyre_parts_##element_ && !gyre_its_wrong_ && gyre_its_i_ < gyre_its_part_.count; gyre_its_i_++) \
            gyre_its_wrong_ = gyre_check_##element_(                                                         \
                gyre_its_message_, gyre_its_part_.offset + gyre_its_i_ * gyre_size_##element_,               \
                gyre_its_bounds_);                                                                           \
        return gyre_its_wrong_;                                                                              \
    }

#define GYRE_BUILT_IN_PART_FUNCTIONS_(name_, element_, kind_, most_)                                         \
    GYRE_PART_FUNCTIONS_(name_, element_, most_)
GYRE_PART_FUNCTIONS_(utf8, u8, 0xffffffffu)
GYRE_SCALAR_PARTS_(GYRE_BUILT_IN_PART_FUNCTIONS_)

/*
 * Checks a field, which may be an array, as the declarator tells: one struct has the field, another struct one
 * element. Names end in _, because the names of users' types, which stand here too, do not.
 */
#define GYRE_FIELD_CHECK_(type_, declarator_)                                                                \
    {                                                                                                        \
        struct gyre_one_ {                                                                                   \
            gyre_u8 gyre_its_before_;                                                                        \
            type_ gyre_its_one_;                                                                             \
        };                                                                                                   \
        struct gyre_all_ {                                                                                   \
            type_ declarator_;                                                                               \
        };                                                                                                   \
        const gyre_u32 gyre_its_size_ = sizeof(type_),                                                       \
                       gyre_its_alignment_ = sizeof(struct gyre_one_) - sizeof(type_);                       \
        gyre_its_offset_ =                                                                                   \
            (gyre_its_offset_ + gyre_its_alignment_ - 1) / gyre_its_alignment_ * gyre_its_alignment_;        \
        for (gyre_u32 gyre_its_i_ = 0; gyre_parts_##type_ && !gyre_its_wrong_ &&                             \
                                       gyre_its_i_ < sizeof(struct gyre_all_) / gyre_its_size_;              \
             gyre_its_i_++)                                                                                  \
            gyre_its_wrong_ = gyre_check_##type_(                                                            \
                gyre_its_message_, gyre_its_offset_ + gyre_its_i_ * gyre_its_size_, gyre_its_bounds_);       \
        if (gyre_its_wrong_)                                                                                 \
            return gyre_wrong_in_(gyre_its_wrong_, #declarator_ ": outside the message",                     \
                                  #declarator_ ": overlaps another part");                                   \
        gyre_its_offset_ += sizeof(struct gyre_all_);                                                        \
    }

#define GYRE_RECORD_CHECK_(name_, LIST_, first_)                                                             \
    GYRE_LATE_ GYRE_LITERAL_ const char *gyre_check_##name_(                                                 \
        const GYRE_GLOBAL gyre_u8 *gyre_its_message_, gyre_u32 gyre_its_at_, gyre_bounds_ *gyre_its_bounds_) \
    {                                                                                                        \
        GYRE_LITERAL_ const char *gyre_its_wrong_ = 0;                                                       \
        gyre_u32 gyre_its_offset_ = gyre_its_at_ + (first_);                                                 \
        LIST_(GYRE_FIELD_CHECK_)                                                                             \
        (void)gyre_its_message_;                                                                             \
        (void)gyre_its_bounds_;                                                                              \
        (void)gyre_its_offset_;                                                                              \
        return gyre_its_wrong_;                                                                              \
    }

/* ---- around the handler ---- */

/*
 * gyre_admit_T(gyre, request) says whether the handler may see the request. gyre_clear_T(reply) is called before the
 * handler. Both do nothing for messages without tails.
 */
#undef GYRE_MESSAGE_FUNCTIONS_
#define GYRE_MESSAGE_FUNCTIONS_(name_, LIST_)                                                                \
    GYRE_RECORD_CHECK_(name_, LIST_, 0)                                                                      \
    GYRE_PLAIN_(name_)
#define GYRE_PLAIN_(name_)                                                                                   \
    enum { gyre_grows_##name_ = 0 };                                                                         \
    GYRE_LATE_ int gyre_admit_##name_(gyre_context *gyre_its_context_,                                       \
                                      const GYRE_GLOBAL name_ *gyre_its_request_)                            \
    {                                                                                                        \
        (void)gyre_its_context_;                                                                             \
        (void)gyre_its_request_;                                                                             \
        return 1;                                                                                            \
    }                                                                                                        \
    GYRE_LATE_ void gyre_clear_##name_(GYRE_GLOBAL name_ *gyre_its_reply_)                                   \
    {                                                                                                        \
        (void)gyre_its_reply_;                                                                               \
    }
GYRE_PLAIN_(gyre_none)
GYRE_PLAIN_(i8)
GYRE_PLAIN_(i16)
GYRE_PLAIN_(i32)
GYRE_PLAIN_(i64)
GYRE_PLAIN_(u8)
GYRE_PLAIN_(u16)
GYRE_PLAIN_(u32)
GYRE_PLAIN_(u64)
GYRE_PLAIN_(f32)
#ifdef GYRE_HAS_F64
GYRE_PLAIN_(f64)
#endif
GYRE_PLAIN_(id128)
GYRE_PLAIN_(gyre_handle)

#undef GYRE_CHOICE_FUNCTIONS_
#define GYRE_CHOICE_FUNCTIONS_(name_, least_)                                                                \
    enum { gyre_grows_##name_ = 0 };                                                                         \
    GYRE_LATE_ int gyre_admit_##name_(gyre_context *gyre_its_context_,                                       \
                                      const GYRE_GLOBAL name_ *gyre_its_request_)                            \
    {                                                                                                        \
        (void)gyre_its_context_;                                                                             \
        (void)gyre_its_request_; /* its type is looked at before the message goes to its handler */          \
        return 1;                                                                                            \
    }                                                                                                        \
    GYRE_LATE_ void gyre_clear_##name_(GYRE_GLOBAL name_ *gyre_its_reply_)                                   \
    {                                                                                                        \
        for (gyre_u32 gyre_its_i_ = 0; gyre_its_i_ < (least_); gyre_its_i_++)                                \
            ((GYRE_GLOBAL gyre_u8 *)gyre_its_reply_)[gyre_its_i_] = 0;                                       \
        gyre_its_reply_->gyre_used = (least_);                                                               \
    }

#undef GYRE_TAIL_FUNCTIONS_
#define GYRE_TAIL_FUNCTIONS_(name_, LIST_)                                                                   \
    enum { gyre_grows_##name_ = 1 }; /* by the items that gyre_new adds */                                   \
    GYRE_RECORD_CHECK_(name_, LIST_, sizeof(gyre_u32))                                                       \
    GYRE_LATE_ int gyre_admit_##name_(gyre_context *gyre_its_context_,                                       \
                                      const GYRE_GLOBAL name_ *gyre_its_request_)                            \
    {                                                                                                        \
        const gyre_u32 gyre_its_least_ = gyre_least_##name_, gyre_its_used_ = gyre_its_request_->gyre_used;  \
        gyre_bounds_ gyre_its_bounds_ = {gyre_its_least_, gyre_its_used_, gyre_its_used_ - gyre_its_least_,  \
                                         GYRE_FAILURE_PART, gyre_its_context_->handles};                     \
        GYRE_LITERAL_ const char *gyre_its_wrong_ =                                                          \
            gyre_check_##name_((const GYRE_GLOBAL gyre_u8 *)gyre_its_request_, 0, &gyre_its_bounds_);        \
        if (gyre_its_wrong_)                                                                                 \
            gyre_fail_(gyre_its_context_, gyre_its_bounds_.code, gyre_its_wrong_);                           \
        return !gyre_its_wrong_;                                                                             \
    }                                                                                                        \
    GYRE_LATE_ void gyre_clear_##name_(GYRE_GLOBAL name_ *gyre_its_reply_)                                   \
    {                                                                                                        \
        for (gyre_u32 gyre_its_i_ = 0; gyre_its_i_ < gyre_least_##name_; gyre_its_i_++)                      \
            ((GYRE_GLOBAL gyre_u8 *)gyre_its_reply_)[gyre_its_i_] = 0;                                       \
        gyre_its_reply_->gyre_used = gyre_least_##name_;                                                     \
    }

/* ---- reading and writing ---- */

#undef gyre_items
#define gyre_items(type_, message_, part_)                                                                   \
    ((const GYRE_GLOBAL type_ *)gyre_items_at_((const GYRE_GLOBAL gyre_u8 *)(message_), (part_)))

GYRE_LATE_ const GYRE_GLOBAL void *gyre_items_at_(const GYRE_GLOBAL gyre_u8 *message, gyre_part part)
{
    const GYRE_GLOBAL gyre_u8 *at = message + (part.offset & ~GYRE_PART_FAR);
    if (gyre_is_far(part))
        return gyre_handle_at_(((const GYRE_GLOBAL gyre_far *)(const GYRE_GLOBAL void *)at)->address);
    return at;
}

#define gyre_writable(type_, reply_, part_)                                                                  \
    ((GYRE_GLOBAL type_ *)gyre_writable_at_((GYRE_GLOBAL gyre_u8 *)(reply_), (part_)))

GYRE_LATE_ GYRE_GLOBAL void *gyre_writable_at_(GYRE_GLOBAL gyre_u8 *reply, gyre_part part)
{
    GYRE_GLOBAL gyre_u8 *at = reply + (part.offset & ~GYRE_PART_FAR);
    if (gyre_is_far(part))
        return gyre_handle_at_(((GYRE_GLOBAL gyre_far *)(GYRE_GLOBAL void *)at)->address);
    return at;
}

GYRE_LATE_ int gyre_index_(gyre_context *gyre, gyre_part part, gyre_u32 index)
{
    if (index >= part.count)
        gyre_fail_(gyre, GYRE_FAILURE_PART, "no item of that index");
    return index < part.count;
}

/*
 * Returns where to read item `index`. Without such an item it is the start of the message, which is at least as large
 * as an item.
 */
GYRE_LATE_ const GYRE_GLOBAL void *gyre_item_at_(gyre_context *gyre, const GYRE_GLOBAL gyre_u8 *message,
                                                 gyre_part part, gyre_u32 index, gyre_u32 size)
{
    if (!gyre_index_(gyre, part, index))
        return message;
    return (const GYRE_GLOBAL gyre_u8 *)gyre_items_at_(message, part) + (gyre_u64)index * size;
}

/* the array's length is negative, which compilers refuse, when no item of that type fits the message */
#define gyre_get(gyre_, type_, message_, part_, index_)                                                      \
    (*(const GYRE_GLOBAL type_ *)gyre_item_at_((gyre_), (const GYRE_GLOBAL gyre_u8 *)(message_), (part_),    \
                                               (index_), GYRE_FITTING_(type_, message_)))
#define GYRE_FITTING_(type_, message_)                                                                       \
    ((gyre_u32)(sizeof(type_) + 0 * sizeof(char[sizeof(*(message_)) >= sizeof(type_) ? 1 : -1])))

#define gyre_set(gyre_, type_, reply_, part_, index_, value_)                                                \
    do {                                                                                                     \
        const gyre_u32 gyre_at_ = (index_);                                                                  \
        if (gyre_index_((gyre_), (part_), gyre_at_))                                                         \
            gyre_writable(type_, (reply_), (part_))[gyre_at_] = (value_);                                    \
    } while (0)

#define gyre_new(gyre_, type_, reply_, count_)                                                               \
    gyre_new_((gyre_), (GYRE_GLOBAL gyre_u8 *)(reply_), sizeof(*(reply_)), (count_), sizeof(type_))

/*
 * Makes new items. The gap before the first item becomes zero, so that no bytes of other messages travel; the items
 * become zero, too, if the reply goes to another program.
 */
GYRE_LATE_ gyre_part gyre_new_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size, gyre_u32 count,
                               gyre_u32 item_size)
{
    GYRE_GLOBAL gyre_u32 *used = (GYRE_GLOBAL gyre_u32 *)(GYRE_GLOBAL void *)reply;
    const gyre_u32 alignment = gyre_item_alignment_(item_size);
    const gyre_u32 end = *used, first = (end + alignment - 1) / alignment * alignment;
    gyre_part part = {0, 0};
    if (count == 0)
        return part;
    if (end > size || first > size || count > (size - first) / item_size) {
        gyre_fail_(gyre, GYRE_FAILURE_TAIL, "the reply's tail has no room for it");
        return part;
    }
    for (gyre_u32 i = end; i < first; i++)
        reply[i] = 0;
    gyre_zero_(gyre, reply + first, count * item_size);
    *used = first + count * item_size;
    part.offset = first;
    part.count = count;
    return part;
}

#define gyre_new_in(gyre_, type_, reply_, handle_, first_, count_)                                           \
    gyre_new_in_((gyre_), (GYRE_GLOBAL gyre_u8 *)(reply_), sizeof(*(reply_)), (handle_), (first_), (count_), \
                 sizeof(type_))

/*
 * Names items of a buffer in the reply. The buffer is checked here. The receiver's side compares the name in the reply
 * with its own table again.
 */
GYRE_LATE_ gyre_part gyre_new_in_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size,
                                  const GYRE_GLOBAL gyre_handle *handle, gyre_u64 first, gyre_u32 count,
                                  gyre_u32 item_size)
{
    gyre_part part = {0, 0};
    gyre_far far = {*handle, 0};
    const gyre_u64 whole = far.handle.size / item_size;
    GYRE_LITERAL_ const char *fault = gyre_handle_find_(gyre->handles, far.handle, item_size, &far.address);
    if (!fault && (first > whole || count > whole - first))
        fault = "the span reaches beyond its handle";
    if (fault)
        gyre_fail_(gyre, GYRE_FAILURE_BUFFER, fault);
    if (fault || count == 0)
        return part;
    part = gyre_new_(gyre, reply, size, 1, sizeof(gyre_far));
    if (part.count == 0)
        return part;
    far.address += first * item_size;
    far.handle.offset += first * item_size;
    far.handle.size = (gyre_u64)count * item_size;
    *(GYRE_GLOBAL gyre_far *)(GYRE_GLOBAL void *)(reply + part.offset) = far;
    part.offset |= GYRE_PART_FAR;
    part.count = count;
    return part;
}

/* Where the tail of a message begins. */
#define GYRE_TAIL_AT_(message_)                                                                              \
    ((gyre_u32)((GYRE_GLOBAL gyre_u8 *)(message_)->gyre_tail - (GYRE_GLOBAL gyre_u8 *)(message_)))

#define gyre_cut(gyre_, type_, reply_, part_, count_)                                                        \
    ((part_) = gyre_cut_((gyre_), (GYRE_GLOBAL gyre_u8 *)(reply_), GYRE_TAIL_AT_(reply_), (part_), (count_), \
                         sizeof(type_)))

/*
 * Shortens a part of the reply. The part is checked against the reply as the parts of a request are, because nothing
 * else tells where it came from.
 */
GYRE_LATE_ gyre_part gyre_cut_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 least, gyre_part part,
                               gyre_u32 count, gyre_u32 item_size)
{
    GYRE_GLOBAL gyre_u32 *used = (GYRE_GLOBAL gyre_u32 *)(GYRE_GLOBAL void *)reply;
    const gyre_u32 at = part.offset & ~GYRE_PART_FAR;
    const gyre_part none = {0, 0};
    gyre_bounds_ bounds = {least, *used, *used - least, GYRE_FAILURE_PART, gyre->handles};
    GYRE_LITERAL_ const char *wrong = gyre_part_wrong_(reply, part, item_size, part.count, 1, &bounds);
    if (wrong)
        wrong = gyre_wrong_in_(wrong, "gyre_cut: outside the reply", "gyre_cut: overlaps another part");
    else if (count > part.count)
        wrong = "gyre_cut: the part has fewer items";
    if (wrong)
        gyre_fail_(gyre, bounds.code, wrong);
    if (wrong || part.count == 0)
        return part;
    *used = at;
    if (count == 0)
        return none;
    if (gyre_is_far(part)) {
        ((GYRE_GLOBAL gyre_far *)(GYRE_GLOBAL void *)(reply + at))->handle.size = (gyre_u64)count * item_size;
        *used += (gyre_u32)sizeof(gyre_far);
    } else {
        *used += count * item_size;
    }
    part.count = count;
    return part;
}

#undef gyre_begin
#define gyre_begin(message_) gyre_begin_((GYRE_GLOBAL gyre_u8 *)(message_), GYRE_TAIL_AT_(message_))

GYRE_LATE_ void gyre_begin_(GYRE_GLOBAL gyre_u8 *message, gyre_u32 least)
{
    for (gyre_u32 i = 0; i < least; i++)
        message[i] = 0;
    *(GYRE_GLOBAL gyre_u32 *)(GYRE_GLOBAL void *)message = least;
}

#define gyre_copy(gyre_, type_, reply_, message_, part_)                                                     \
    gyre_copy_((gyre_), (GYRE_GLOBAL gyre_u8 *)(reply_), sizeof(*(reply_)),                                  \
               (const GYRE_GLOBAL gyre_u8 *)(message_), (part_), sizeof(type_))

GYRE_LATE_ gyre_part gyre_copy_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size,
                                const GYRE_GLOBAL gyre_u8 *message, gyre_part from, gyre_u32 item_size)
{
    const gyre_part part = gyre_new_(gyre, reply, size, from.count, item_size);
    const gyre_u32 bytes = part.count * item_size;
    const GYRE_GLOBAL gyre_u8 *items = gyre_items(gyre_u8, message, from);
    if (item_size % 8 == 0) {
        for (gyre_u32 i = 0; i < bytes / 8; i++)
            gyre_writable(gyre_u64, reply, part)[i] = gyre_items(gyre_u64, message, from)[i];
    } else {
        for (gyre_u32 i = 0; i < bytes; i++)
            reply[part.offset + i] = items[i];
    }
    return part;
}

#define gyre_new_text(gyre_, reply_, text_)                                                                  \
    gyre_new_text_((gyre_), (GYRE_GLOBAL gyre_u8 *)(reply_), sizeof(*(reply_)), (text_), sizeof(text_) - 1)

GYRE_LATE_ gyre_part gyre_new_text_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size,
                                    GYRE_LITERAL_ const char *text, gyre_u32 length)
{
    const gyre_part part = gyre_new_(gyre, reply, size, length, 1);
    for (gyre_u32 i = 0; i < part.count; i++)
        reply[part.offset + i] = (gyre_u8)text[i];
    return part;
}

#if defined(GYRE_DIALECT_C11_H) && GYRE_CHECKED_INDICES && !defined(GYRE_CHECK)
#include "gyre/dialect/c11_checked_parts.h"
#endif

#endif
