/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed actors as OpenCL C: finds the state of a message's key in the table (gyre/keyed_layout.h) and calls the handler with it. In
 * files that are compiled with GYRE_KEYED = 1. Included by opencl.h.
 *
 * One lane handles all messages of an epoch, and one epoch is under way at a time, so messages of a key keep their order, and keys come
 * and leave in the same order as on the other backends. OpenCL C has no templates and no pointers to functions: what depends on a
 * kernel is text that its declaration makes.
 */
#ifndef GYRE_DIALECT_OPENCL_KEYED_H
#define GYRE_DIALECT_OPENCL_KEYED_H

#define GYRE_CALLED_ GYRE_HELPER

/* Copies bytes to a table, out of it or from a lane's own memory. Both places begin at a multiple of 8 bytes. */
#define GYRE_KEYED_COPY_FROM_(memory_)                                                                       \
    static inline __attribute__((__overloadable__, __unused__)) void gyre_keyed_copy_(                       \
        __global void *to, const memory_ void *from, gyre_u32 size)                                          \
    {                                                                                                        \
        for (gyre_u32 at = 0; at < size / 8; at++)                                                           \
            ((__global gyre_u64 *)to)[at] = ((const memory_ gyre_u64 *)from)[at];                            \
        for (gyre_u32 at = size / 8 * 8; at < size; at++)                                                    \
            ((__global gyre_u8 *)to)[at] = ((const memory_ gyre_u8 *)from)[at];                              \
    }
GYRE_KEYED_COPY_FROM_(__global)
GYRE_KEYED_COPY_FROM_(__private)

#define GYRE_REMINDS_NOW_(context)        gyre_time_ns(context)
#define GYRE_REMINDS_FAIL_(context, text) ((void)gyre_fail_((context), GYRE_FAILURE_KEYS, (text)))
#include "gyre/dialect/keyed_reminders.h"
#include "gyre/dialect/opencl_keyed_reminders.h"

/* ---- one message ---- */

/* Copies a message's key to where it begins at a multiple of 8 bytes. */
GYRE_HELPER void gyre_keyed_key_(const __global gyre_u8 *from, gyre_u32 size, gyre_u64 *key)
{
    for (gyre_u32 i = 0; i < (size + 7) / 8; i++)
        key[i] = 0;
    for (gyre_u32 i = 0; i < size; i++)
        key[i / 8] |= (gyre_u64)from[i] << (8 * (i % 8));
}

/* Looks for the key; use->is_new: the table does not have it, and no entry is there yet. */
GYRE_HELPER void gyre_keyed_look_(const __global gyre_keyed_table *table, const gyre_u64 *key, gyre_u64 hash,
                                  gyre_keyed_use_ *use)
{
    __global gyre_keyed_part *part = gyre_keyed_part_at(table, gyre_keyed_part_of(table, hash));
    const gyre_u32 at = gyre_keyed_find(table, part, key, hash);
    use->part = part;
    use->entry = 0;
    use->is_new = at == GYRE_KEYED_NOWHERE;
    if (!use->is_new)
        use->entry = gyre_keyed_entry_at(table, part, (gyre_u32)gyre_keyed_places(part)[at] - 1);
}

/* A key whose first message failed was not born: otherwise requests that are refused would fill the table. */
GYRE_HELPER void gyre_keyed_leave_(const __global gyre_keyed_table *table, gyre_context *gyre,
                                   const gyre_keyed_use_ *use)
{
    gyre_reminders_keep_(table, use->part, use->entry, gyre);
    if (gyre->forgets || (use->is_new && gyre->failed))
        gyre_keyed_remove_(table, use->part, use->entry);
}

/* In the unit of a canary, which defines the function: counts what became of a message, in the part of its key. */
#ifdef GYRE_CANARY
#define GYRE_CANARY_COUNTS_KEYS 1
GYRE_HELPER void gyre_canary_count_(__global gyre_keyed_part *part, const __global gyre_u8 *key,
                                    gyre_u32 size, gyre_u32 failed);
#define GYRE_CANARY_COUNT_(part, key, size, failed) gyre_canary_count_((part), (key), (size), (failed))
#else
#define GYRE_CANARY_COUNT_(part, key, size, failed) ((void)0)
#endif

/* ---- hooks ---- */

/* The hooks of a keyed actor that has none. */
enum { gyre_keys_leave_gyre_none = 0 };
GYRE_HELPER void gyre_births_gyre_none(const __global void *request, __global void *state, gyre_context *gyre)
{
    (void)request;
    (void)state;
    (void)gyre;
}
GYRE_HELPER int gyre_leaves_gyre_none(__global void *state, gyre_context *gyre)
{
    (void)state;
    (void)gyre;
    return 0;
}

#define GYRE_DECLARE_LIVES_(name_, request_, state_)                                                         \
    GYRE_KEYED_LIVES_(name_, request_, state_)                                                               \
    enum { gyre_keys_leave_##name_ = 1 };                                                                    \
    GYRE_HELPER void gyre_births_##name_(const __global void *gyre_its_request_,                             \
                                         __global void *gyre_its_state_, gyre_context *gyre_its_context_)    \
    {                                                                                                        \
        gyre_born_##name_((const __global request_ *)gyre_its_request_, (__global state_ *)gyre_its_state_,  \
                          gyre_its_context_);                                                                \
    }                                                                                                        \
    GYRE_HELPER int gyre_leaves_##name_(__global void *gyre_its_state_, gyre_context *gyre_its_context_)     \
    {                                                                                                        \
        return gyre_passive_##name_((__global state_ *)gyre_its_state_, gyre_its_context_) == GYRE_LEAVES;   \
    }

#define GYRE_KEYED_NO_HOOKS_         gyre_none
#define GYRE_KEYED_HOOKS_(name_)     name_
#define GYRE_KEYED_REMINDS_(name_)   gyre_none
#define GYRE_KEYED_ALL_HOOKS_(name_) name_

/* ---- declaring ---- */

/*
 * Lets a key leave a full part. A key that has a reminder, or whose hook says that it stays counts as used now, and another one is asked, a bounded number of
 * times. Returns 0 when none leaves.
 */
#define GYRE_KEYED_ROOM_(name_, hooks_)                                                                      \
    GYRE_HELPER int gyre_keyed_make_room_##name_(const __global gyre_keyed_table *gyre_its_table_,           \
                                                 __global gyre_keyed_part *gyre_its_part_,                   \
                                                 gyre_context *gyre_its_context_)                            \
    {                                                                                                        \
        for (gyre_u32 gyre_its_i_ = 0; gyre_keys_leave_##hooks_ && gyre_its_i_ < GYRE_KEYED_LOOKS_;          \
             gyre_its_i_++) {                                                                                \
            __global gyre_keyed_entry *gyre_its_entry_ =                                                     \
                gyre_keyed_oldest_(gyre_its_table_, gyre_its_part_);                                         \
            const int gyre_its_waits_ =                                                                      \
                gyre_its_table_->due_offset && gyre_keyed_due_of(gyre_its_table_, gyre_its_entry_)->place;   \
            if (!gyre_its_waits_ && gyre_leaves_##hooks_(gyre_keyed_state(gyre_its_table_, gyre_its_entry_), \
                                                         gyre_its_context_)) {                               \
                gyre_keyed_remove_(gyre_its_table_, gyre_its_part_, gyre_its_entry_);                        \
                gyre_its_part_->left++;                                                                      \
                return 1;                                                                                    \
            }                                                                                                \
            gyre_its_entry_->used = ++gyre_its_part_->clock;                                                 \
        }                                                                                                    \
        return 0;                                                                                            \
    }

/* Finds or makes the state of the request's key. The request is admitted. Returns 0 when the message failed. */
#define GYRE_KEYED_ENTER_(name_, request_, key_, hooks_, reminds_)                                           \
    GYRE_HELPER int gyre_keyed_enter_##name_(                                                                \
        const __global request_ *gyre_its_request_, const __global gyre_keyed_table *gyre_its_table_,        \
        gyre_context *gyre_its_context_, gyre_keyed_use_ *gyre_its_use_)                                     \
    {                                                                                                        \
        gyre_u64 gyre_its_key_[(sizeof(((request_ *)0)->key_) + 7) / 8];                                     \
        gyre_keyed_key_((const __global gyre_u8 *)&gyre_its_request_->key_, sizeof(((request_ *)0)->key_),   \
                        gyre_its_key_);                                                                      \
        const gyre_u64 gyre_its_hash_ = gyre_keyed_hash(gyre_its_table_, gyre_its_key_);                     \
        if (gyre_keys_are_reminded_##reminds_ && gyre_its_context_->by_sent)                                 \
            gyre_keyed_before_##name_(gyre_its_table_, gyre_its_hash_, gyre_its_context_);                   \
        gyre_its_context_->reminds =                                                                         \
            gyre_keys_are_reminded_##reminds_ ? GYRE_REMINDS_AS_IS_ : GYRE_REMINDS_NEVER_;                   \
        gyre_its_context_->from_ns = gyre_keys_are_reminded_##reminds_ && gyre_its_context_->by_sent         \
                                         ? (gyre_i64)gyre_header_sent_ns(gyre_its_context_)                  \
                                         : 0;                                                                \
        gyre_keyed_look_(gyre_its_table_, gyre_its_key_, gyre_its_hash_, gyre_its_use_);                     \
        gyre_its_context_->block =                                                                           \
            gyre_keyed_owner(gyre_its_table_, gyre_its_hash_, gyre_its_context_->block_count);               \
        if (gyre_its_use_->is_new) {                                                                         \
            if (gyre_its_use_->part->count == gyre_its_table_->capacity &&                                   \
                !gyre_keyed_make_room_##name_(gyre_its_table_, gyre_its_use_->part, gyre_its_context_)) {    \
                gyre_fail_(gyre_its_context_, GYRE_FAILURE_KEYS,                                             \
                           "no room for another key: raise its `keys`");                                     \
                return 0;                                                                                    \
            }                                                                                                \
            gyre_its_use_->entry =                                                                           \
                gyre_keyed_add_(gyre_its_table_, gyre_its_use_->part, gyre_its_key_, gyre_its_hash_);        \
            gyre_births_##hooks_(gyre_its_request_, gyre_keyed_state(gyre_its_table_, gyre_its_use_->entry), \
                                 gyre_its_context_);                                                         \
        }                                                                                                    \
        gyre_its_use_->entry->used = ++gyre_its_use_->part->clock;                                           \
        gyre_its_context_->forgets = 0;                                                                      \
        return 1;                                                                                            \
    }

/*
 * Calls the handler with the state of the request's key. It and the hooks see the block that owns the key, as on the other backends;
 * what comes afterwards, as a reply's place, is of the lane's own block. `has_`: TO, if its
 * handler has these ports, or NO.
 */
#define GYRE_KEYED_TAKES_NO_(ports_)
#define GYRE_KEYED_TAKES_TO_(ports_) , ports_ *gyre_its_ports_
#define GYRE_KEYED_GIVES_NO_
#define GYRE_KEYED_GIVES_TO_ , gyre_its_ports_
#define GYRE_KEYED_CALL_(has_, ports_, name_, request_, reply_, state_, key_)                                \
    GYRE_HELPER gyre_result gyre_keyed_handler_##name_(                                                      \
        const __global request_ *gyre_its_request_, __global reply_ *gyre_its_reply_,                        \
        const __global gyre_keyed_table *gyre_its_table_, __local gyre_none *gyre_its_scratch_,              \
        const gyre_none *gyre_its_buffers_,                                                                  \
        gyre_context *gyre_its_context_ GYRE_KEYED_TAKES_##has_##_(ports_))                                  \
    {                                                                                                        \
        const gyre_u32 gyre_its_block_ = gyre_its_context_->block;                                           \
        gyre_result gyre_its_result_ = GYRE_FAILED;                                                          \
        gyre_keyed_use_ gyre_its_use_;                                                                       \
        if (gyre_keyed_enter_##name_(gyre_its_request_, gyre_its_table_, gyre_its_context_,                  \
                                     &gyre_its_use_)) {                                                      \
            gyre_its_result_ = gyre_handler_##name_(                                                         \
                gyre_its_request_, gyre_its_reply_,                                                          \
                (__global state_ *)gyre_keyed_state(gyre_its_table_, gyre_its_use_.entry),                   \
                gyre_its_scratch_, gyre_its_buffers_, gyre_its_context_ GYRE_KEYED_GIVES_##has_##_);         \
            GYRE_CANARY_COUNT_(gyre_its_use_.part, (const __global gyre_u8 *)&gyre_its_request_->key_,       \
                               sizeof(((request_ *)0)->key_), gyre_its_context_->failed != 0);               \
            gyre_keyed_leave_(gyre_its_table_, gyre_its_context_, &gyre_its_use_);                           \
        }                                                                                                    \
        gyre_its_context_->block = gyre_its_block_;                                                          \
        return gyre_its_result_;                                                                             \
    }

/* The entry's words for a keyed actor (opencl_flows.h has the others): its handler gets the table in place of a state. */
#define GYRE_HAVE_KEYED_(ports_, gyre)               ((void)0)
#define GYRE_AIM_KEYED_(ports_, epoch, replies, i)   ((void)0)
#define GYRE_COUNT_KEYED_(ports_, epoch, replies, i) ((void)0)
#define GYRE_STOP_KEYED_(gyre)
#define GYRE_CALL_KEYED_(name_, request, reply, state, scratch, buffers, gyre)                               \
    gyre_keyed_handler_##name_((request), (reply), (const __global gyre_keyed_table *)(state), (scratch),    \
                               (buffers), (gyre))
#define GYRE_BEGIN_KEYED_(name_, epoch, state, gyre)                                                         \
    gyre_keyed_begin_##name_((const __global gyre_keyed_table *)(state), (epoch), (gyre))
#define GYRE_CLOSE_KEYED_(name_, gyre) gyre_keyed_end_##name_(gyre)
/* The same of one with ports. */
#define GYRE_BEGIN_KEYED_TO_(name_, epoch, state, gyre) GYRE_BEGIN_KEYED_(name_, epoch, state, gyre)
#define GYRE_CLOSE_KEYED_TO_(name_, gyre)               GYRE_CLOSE_KEYED_(name_, gyre)
#define GYRE_HAVE_KEYED_TO_(ports_, gyre)               GYRE_HAVE_TO_(ports_, gyre)
#define GYRE_AIM_KEYED_TO_(ports_, epoch, replies, i)   GYRE_AIM_TO_(ports_, epoch, replies, i)
#define GYRE_COUNT_KEYED_TO_(ports_, epoch, replies, i) GYRE_COUNT_TO_(ports_, epoch, replies, i)
#define GYRE_STOP_KEYED_TO_(gyre)                       GYRE_STOP_TO_(gyre)
#define GYRE_CALL_KEYED_TO_(name_, request, reply, state, scratch, buffers, gyre)                            \
    gyre_keyed_handler_##name_((request), (reply), (const __global gyre_keyed_table *)(state), (scratch),    \
                               (buffers), (gyre), &gyre_its_ports_)

/* All of a keyed actor except the declaration of its handler. */
#define GYRE_DECLARE_KEYED_WITH_(has_, keyed_, ports_, name_, request_, reply_, state_, key_, hooks_,        \
                                 reminds_)                                                                   \
    GYRE_DESCRIBE_KERNEL_(4, name_, request_, reply_, gyre_none, state_, gyre_none)                          \
    GYRE_EXPORTED_TEXT_(gyre_key_##name_, #key_)                                                             \
    GYRE_KEYED_REMINDERS_(name_, reminds_)                                                                   \
    GYRE_KEYED_ROOM_(name_, hooks_)                                                                          \
    GYRE_KEYED_ENTER_(name_, request_, key_, hooks_, reminds_)                                               \
    GYRE_KEYED_CALL_(has_, ports_, name_, request_, reply_, state_, key_)                                    \
    GYRE_ENTRY_ALONE_(0, GYRE_NO_SCRATCH_, keyed_, ports_, name_, request_, reply_, gyre_none, state_,       \
                      gyre_none)
#define GYRE_DECLARE_KEYED_(name_, request_, reply_, state_, key_, hooks_, reminds_)                         \
    GYRE_HANDLER_(name_, request_, reply_, gyre_none, state_, gyre_none);                                    \
    GYRE_DECLARE_KEYED_WITH_(NO, KEYED, gyre_none, name_, request_, reply_, state_, key_, hooks_, reminds_)
#define GYRE_DECLARE_KEYED_TO_(name_, request_, reply_, ports_, state_, key_, hooks_, reminds_)              \
    GYRE_HANDLER_TO_(name_, request_, reply_, gyre_none, state_, gyre_none, ports_);                         \
    _Static_assert(sizeof(ports_) == gyre_ports_of_##ports_ * sizeof(gyre_opencl_port), "layout");           \
    GYRE_EXPORTED_TEXT_(gyre_leads_##name_, #ports_)                                                         \
    GYRE_DECLARE_KEYED_WITH_(TO, KEYED_TO, ports_, name_, request_, reply_, state_, key_, hooks_, reminds_)

/** The key of the message leaves when its handler has returned. */
#define gyre_forget(gyre) ((void)((gyre)->forgets = 1))

#endif
