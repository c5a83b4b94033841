/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks indices into parts of messages (items in the tail), and into buffers that messages name, in kernels that are
 * compiled with GYRE_CHECKED_INDICES = 1. Included at the end of parts.h.
 *
 * Parts of a request lie back to back, so an index behind one part would hit the next part. Therefore the handler gets
 * a copy of the items, with no range around it. The request itself may not change while the handler runs.
 */
#ifndef GYRE_DIALECT_C11_CHECKED_PARTS_H
#define GYRE_DIALECT_C11_CHECKED_PARTS_H

/* Bytes before and after a copy that belong to no range. */
enum { GYRE_MOAT_ = 4096 };

/* Adds the range of items that lie in a buffer; the same items may be added twice. */
GYRE_LATE_ void gyre_range_open_(const void *items, gyre_u64 size, gyre_u64 item, const char *name)
{
    gyre_call_ *call = gyre_call_now_;
    for (gyre_u32 i = 0; call && i < call->count; i++)
        if (call->ranges[i].from == items && (gyre_u64)(call->ranges[i].end - call->ranges[i].from) == size)
            return;
    if (call && !gyre_range_share_(call, GYRE_SORT_BUFFER, items, size, item, name, __builtin_strlen(name)))
        call->lenient = 1;
}

/*
 * Returns the copy that the call has made of these items already, or NULL. The moat before a copy says where its items
 * came from.
 */
GYRE_LATE_ const void *gyre_copy_find_(const gyre_call_ *call, const gyre_u8 *items, gyre_u64 size)
{
    for (gyre_u32 i = 0; i < call->count; i++) {
        const gyre_range_ *range = &call->ranges[i];
        if (range->copy && (gyre_u64)(range->end - range->from) == size &&
            *(const gyre_u8 *const *)(const void *)range->copy == items)
            return range->from;
    }
    return 0;
}

GYRE_LATE_ const void *gyre_copy_make_(gyre_call_ *call, const gyre_u8 *items, gyre_u64 size, gyre_u64 item,
                                       const char *name)
{
    if (call->count == GYRE_RANGES_)
        return items;
    gyre_u8 *copy = (gyre_u8 *)__builtin_malloc(size + 2 * GYRE_MOAT_);
    if (!copy)
        return items;
    *(const gyre_u8 **)(void *)copy = items;
    gyre_move_(copy + GYRE_MOAT_, items, size);
    gyre_range_add_(call, copy + GYRE_MOAT_, size, item, name, __builtin_strlen(name))->copy = copy;
    return copy + GYRE_MOAT_;
}

GYRE_LATE_ const void *gyre_items_checked_(const void *message, gyre_part part, gyre_u64 item,
                                           const char *name)
{
    gyre_call_ *call = gyre_call_now_;
    const gyre_u8 *const items = (const gyre_u8 *)gyre_items_at_((const gyre_u8 *)message, part);
    const gyre_u64 size = part.count * item;
    if (!call)
        return items;
    if (gyre_is_far(part)) {
        gyre_range_open_(items, size, item, name);
        return items;
    }
    if ((const gyre_u8 *)message < call->request || (const gyre_u8 *)message >= call->request_end)
        return items;
    const void *copy = gyre_copy_find_(call, items, size);
    return copy ? copy : gyre_copy_make_(call, items, size, item, name);
}

#undef gyre_items
#define gyre_items(type_, message_, part_)                                                                   \
    ((const type_ *)gyre_items_checked_((message_), (part_), sizeof(type_), #part_))

GYRE_LATE_ void *gyre_writable_checked_(void *reply, gyre_part part, gyre_u64 item, const char *name)
{
    void *const items = gyre_writable_at_((gyre_u8 *)reply, part);
    gyre_call_ *call = gyre_call_now_;
    const gyre_u8 *const from = (const gyre_u8 *)items, *const end = from + part.count * item;
    if (gyre_is_far(part))
        gyre_range_open_(items, part.count * item, item, name);
    else if (call && end > call->made.end)
        call->made = (gyre_range_){from, end, item, name, (gyre_u32)__builtin_strlen(name), GYRE_SORT_OWN, 0};
    return items;
}

#undef gyre_writable
#define gyre_writable(type_, reply_, part_)                                                                  \
    ((type_ *)gyre_writable_checked_((reply_), (part_), sizeof(type_), #part_))

/*
 * Checks an index of gyre_get or gyre_set. The two fail a message by themselves, and their handler goes on; here the
 * failure's text says more.
 */
GYRE_LATE_ gyre_u32 gyre_index_checked_(gyre_context *gyre, gyre_part part, gyre_u32 index, const char *name,
                                        const char *file, gyre_u32 line)
{
    const gyre_cpu_fault fault = {.file = file,
                                  .name = name,
                                  .line = line,
                                  .index = index,
                                  .count = part.count,
                                  .code = GYRE_FAILURE_PART};
    if (index >= part.count && !gyre->failed)
        gyre_report_(gyre, &fault);
    return index;
}

GYRE_LATE_ const void *gyre_item_checked_(gyre_context *gyre, const void *message, gyre_part part,
                                          gyre_u32 index, gyre_u32 item, const char *name, const char *file,
                                          gyre_u32 line)
{
    gyre_index_checked_(gyre, part, index, name, file, line);
    if (index < part.count && gyre_is_far(part))
        gyre_range_open_(gyre_items_at_((const gyre_u8 *)message, part), (gyre_u64)part.count * item, item,
                         name);
    return gyre_item_at_(gyre, (const gyre_u8 *)message, part, index, item);
}

#undef gyre_get
#define gyre_get(gyre_, type_, message_, part_, index_)                                                      \
    (*(const type_ *)gyre_item_checked_((gyre_), (message_), (part_), (index_),                              \
                                        GYRE_FITTING_(type_, message_), #part_, __FILE__, __LINE__))
#undef gyre_set
#define gyre_set(gyre_, type_, reply_, part_, index_, value_)                                                \
    do {                                                                                                     \
        const gyre_u32 gyre_at_ =                                                                            \
            gyre_index_checked_((gyre_), (part_), (index_), #part_, __FILE__, __LINE__);                     \
        if (gyre_index_((gyre_), (part_), gyre_at_))                                                         \
            gyre_writable(type_, (reply_), (part_))[gyre_at_] = (value_);                                    \
    } while (0)

GYRE_LATE_ void *gyre_open_checked_(gyre_context *gyre, const gyre_handle *handle, gyre_u64 item,
                                    gyre_u64 *count, const char *name)
{
    void *const data = gyre_open_(gyre, handle, item, count);
    if (data)
        gyre_range_open_(data, *count * item, item, name);
    return data;
}

#undef gyre_open
#define gyre_open(gyre, type, handle, count)                                                                 \
    ((type *)gyre_open_checked_((gyre), (handle), sizeof(type), (count), #handle))

#endif
