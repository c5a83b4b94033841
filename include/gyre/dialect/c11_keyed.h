/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed actors as C11: finds the state of a message's key in the table (gyre/keyed_layout.h) and calls the handler with it.
 * Included by c11.h.
 */
#ifndef GYRE_DIALECT_C11_KEYED_H
#define GYRE_DIALECT_C11_KEYED_H

#define GYRE_REMINDS_NOW_(context) (context)->services->time_ns()
#define GYRE_REMINDS_FAIL_(context, text)                                                                    \
    ((context)->failed = 1, (context)->fail_code = GYRE_FAILURE_KEYS, (context)->fail_text = (text))
#include "gyre/dialect/keyed_reminders.h"
#include "gyre/keyed_layout.h"

typedef void (*gyre_reminded_)(void *state, const gyre_reminder *reminder, gyre_context *context);

/** What a keyed actor does when a key is born, when it leaves, and when it is reminded; NULL: nothing, and no key leaves. */
typedef struct gyre_keyed_hooks_ {
    void (*born)(const void *request, void *state, gyre_context *context);
    int (*passive)(void *state, gyre_context *context);
    gyre_reminded_ reminded;
} gyre_keyed_hooks_;

/* ---- a message ---- */

/*
 * Lets a key leave a full part. A key that has a reminder, or whose hook says that it stays, counts as used now, and another one is
 * asked, a bounded number of times. Returns 0 when none leaves.
 */
GYRE_CALLED_ int gyre_keyed_make_room_(const gyre_keyed_table *table, gyre_keyed_part *part,
                                       const gyre_keyed_hooks_ *hooks, gyre_context *context)
{
    for (gyre_u32 i = 0; hooks->passive && i < GYRE_KEYED_LOOKS_; i++) {
        gyre_keyed_entry *entry = gyre_keyed_oldest_(table, part);
        const int waits = table->due_offset && gyre_keyed_due_of(table, entry)->place;
        if (!waits && hooks->passive(gyre_keyed_state(table, entry), context)) {
            gyre_keyed_remove_(table, part, entry);
            part->left++;
            return 1;
        }
        entry->used = ++part->clock;
    }
    return 0;
}

/* A key whose first message failed was not born: else requests that are refused would fill the table. */
GYRE_CALLED_ void gyre_keyed_leave_(const gyre_keyed_table *table, gyre_context *context,
                                    const gyre_keyed_use_ *use)
{
    gyre_reminders_keep_(table, use->part, use->entry, context);
    if (context->forgets || (use->is_new && context->failed))
        gyre_keyed_remove_(table, use->part, use->entry);
}

/* ---- reminders ---- */

/* Nobody waits for the answer to a reminder: a failure is told in the log. */
GYRE_CALLED_ void gyre_reminder_failed_(gyre_context *context)
{
    static const char front[] = "a reminder failed: ", back[] = "; code";
    char text[sizeof front + sizeof back + sizeof((gyre_failure *)0)->text];
    gyre_u64 length = sizeof front - 1;
    if (!context->failed)
        return;
    context->failed = 0;
    memcpy(text, front, sizeof front);
    for (const char *at = context->fail_text; *at && length < sizeof text - sizeof back; at++)
        text[length++] = *at;
    memcpy(text + length, back, sizeof back);
    context->services->log(context, text, context->fail_code);
}

/* What the context says about a message, of which a reminder, also one that comes before the message, knows nothing. */
typedef struct gyre_keyed_message_ {
    const unsigned char *header;
    gyre_u64 origin, flow;
    void *memory;
    gyre_u32 header_size, token;
} gyre_keyed_message_;

GYRE_CALLED_ gyre_keyed_message_ gyre_keyed_put_away_(gyre_context *context)
{
    const gyre_keyed_message_ message = {context->header, context->origin,      context->flow,
                                         context->memory, context->header_size, context->token};
    context->header = 0;
    context->memory = 0;
    context->origin = context->flow = 0;
    context->header_size = context->token = 0;
    return message;
}

GYRE_CALLED_ void gyre_keyed_take_out_(gyre_context *context, const gyre_keyed_message_ *message)
{
    context->header = message->header;
    context->origin = message->origin;
    context->flow = message->flow;
    context->memory = message->memory;
    context->header_size = message->header_size;
    context->token = message->token;
}

/* Reminds a key that is due. Afterwards it may have left. */
GYRE_CALLED_ void gyre_keyed_remind_(const gyre_keyed_table *table, gyre_keyed_part *part,
                                     gyre_keyed_entry *entry, gyre_reminded_ reminded, gyre_context *context)
{
    const gyre_i64 due_ns = gyre_keyed_due_of(table, entry)->due_ns;
    const gyre_reminder reminder = {(gyre_u64)due_ns};
    const gyre_keyed_use_ use = {part, entry, 0};
    const gyre_keyed_message_ message = gyre_keyed_put_away_(context);
    gyre_due_clear_(table, part, entry);
    context->forgets = 0;
    context->reminds = GYRE_REMINDS_AS_IS_;
    context->from_ns = due_ns;
    reminded(gyre_keyed_state(table, entry), &reminder, context);
    if (context->reminds == GYRE_REMINDS_AT_)
        gyre_remind_again_(context, due_ns);
    gyre_keyed_leave_(table, context, &use);
    context->from_ns = 0;
    gyre_reminder_failed_(context);
    gyre_keyed_take_out_(context, &message);
}

#define GYRE_REMINDED_AT_ONCE_ 64

/*
 * Reminds keys of the block that are due at `now_ns`: some of the part that has the first of them. Returns how many.
 * context->next_due_ns says before when no other key of the block is due; GYRE_KEYED_NO_DUE: none has a reminder.
 */
GYRE_CALLED_ int gyre_keyed_fire_(const gyre_keyed_table *table, gyre_reminded_ reminded,
                                  gyre_context *context, gyre_i64 now_ns)
{
    gyre_keyed_part *first = 0;
    gyre_i64 next_ns = GYRE_KEYED_NO_DUE;
    int count = 0;
    for (gyre_u32 i = 0; i < 1u << table->parts_log2; i++) {
        gyre_keyed_part *part = gyre_keyed_part_at(table, i);
        if (gyre_keyed_owner(table, i, context->block_count) != context->block || !part->reminders)
            continue;
        const gyre_i64 due_ns = gyre_due_at_(table, part, 0)->due_ns;
        if (due_ns < next_ns) {
            next_ns = due_ns;
            first = part;
        }
    }
    context->next_due_ns = next_ns;
    for (; first && first->reminders && count < GYRE_REMINDED_AT_ONCE_; count++) {
        if (gyre_due_at_(table, first, 0)->due_ns > now_ns)
            break;
        gyre_keyed_remind_(table, first, gyre_keyed_entry_at(table, first, gyre_keyed_heap(table, first)[0]),
                           reminded, context);
    }
    return count;
}

/* When the message was sent; below 0: before the present start of the machine, so a replay sends it again. */
GYRE_CALLED_ gyre_i64 gyre_sent_ns_(const gyre_context *context)
{
    gyre_i64 sent_ns = 0;
    if (context->header && context->header_size >= offsetof(gyre_header, sent_ns) + sizeof sent_ns)
        memcpy(&sent_ns, context->header + offsetof(gyre_header, sent_ns), sizeof sent_ns);
    return sent_ns;
}

/*
 * Reminds the keys of the message's part that were due when it was sent, in their order. So a replay reminds them between the same
 * messages, and entries are taken and given in the same order, on which depends which key leaves a full part.
 */
GYRE_CALLED_ void gyre_keyed_remind_part_(const gyre_keyed_table *table, gyre_keyed_part *part,
                                          gyre_reminded_ reminded, gyre_context *context)
{
    const gyre_i64 sent_ns = gyre_sent_ns_(context);
    while (part->reminders && gyre_due_at_(table, part, 0)->due_ns <= sent_ns)
        gyre_keyed_remind_(table, part, gyre_keyed_entry_at(table, part, gyre_keyed_heap(table, part)[0]),
                           reminded, context);
}

GYRE_CALLED_ int gyre_keyed_refuse_(gyre_context *context, const char *text)
{
    context->failed = 1;
    context->fail_code = GYRE_FAILURE_KEYS;
    context->fail_text = text;
    return 0;
}

/* Finds or makes the state of the request's key. Returns 0 when the message failed. */
GYRE_CALLED_ int gyre_keyed_enter_(const gyre_keyed_table *table, const void *key, const void *request,
                                   const gyre_keyed_hooks_ *hooks, gyre_context *context,
                                   gyre_keyed_use_ *use)
{
    const gyre_u64 hash = gyre_keyed_hash(table, key);
    /* another program can write its ring after the block looked for its own keys there */
    if (context->block_count > 1 && gyre_keyed_owner(table, hash, context->block_count) != context->block)
        return gyre_keyed_refuse_(context, "its key changed while it was read");
    gyre_keyed_part *part = use->part = gyre_keyed_part_at(table, gyre_keyed_part_of(table, hash));
    if (context->by_sent && hooks->reminded)
        gyre_keyed_remind_part_(table, part, hooks->reminded, context);
    const gyre_u32 at = gyre_keyed_find(table, part, key, hash);
    use->is_new = at == GYRE_KEYED_NOWHERE;
    if (!use->is_new) {
        use->entry = gyre_keyed_entry_at(table, part, (gyre_u32)gyre_keyed_places(part)[at] - 1);
    } else {
        if (part->count == table->capacity && !gyre_keyed_make_room_(table, part, hooks, context))
            return gyre_keyed_refuse_(context, "no room for another key: raise its `keys`");
        use->entry = gyre_keyed_add_(table, part, key, hash);
    }
    context->reminds = hooks->reminded ? GYRE_REMINDS_AS_IS_ : GYRE_REMINDS_NEVER_;
    context->from_ns = context->by_sent ? gyre_sent_ns_(context) : 0;
    if (use->is_new) {
        if (hooks->born)
            hooks->born(request, gyre_keyed_state(table, use->entry), context);
    }
    use->entry->used = ++part->clock;
    context->forgets = 0;
    return 1;
}

/* In the unit of a canary, which defines the function: counts what became of a message, in the part of its key. */
#ifdef GYRE_CANARY
#define GYRE_CANARY_COUNTS_KEYS 1
GYRE_HELPER void gyre_canary_count_(gyre_keyed_part *part, const gyre_u8 *key, gyre_u32 size,
                                    gyre_u32 failed);
#define GYRE_CANARY_COUNT_(part, key, size, failed) gyre_canary_count_((part), (key), (size), (failed))
#else
#define GYRE_CANARY_COUNT_(part, key, size, failed) ((void)0)
#endif

/** The key of the message leaves when its handler has returned. */
#define gyre_forget(gyre) ((void)((gyre)->forgets = 1))

/* ---- declaring ---- */

#ifdef GYRE_CHECK
#define GYRE_KEYED_MEMBER_(name_, request_, key_)                                                            \
    enum { gyre_key_of_##name_ = sizeof(((request_ *)0)->key_) };
#define GYRE_DECLARE_KEYED_(name_, request_, reply_, state_, key_, hooks_, reminds_)                         \
    GYRE_DECLARE_LANE_(4, name_, request_, reply_, gyre_none, state_, gyre_none)                             \
    GYRE_KEYED_MEMBER_(name_, request_, key_)
#else
/* Calls the handler with the state of the request's key. Behind the key stand the hooks. */
#define GYRE_KEYED_CALL_(name_, request_, key_, ...)                                                         \
    static int gyre_keyed_handler_##name_(                                                                   \
        const void *gyre_its_request_, void *gyre_its_reply_, void *gyre_its_table_,                         \
        void *gyre_its_scratch_, const gyre_binding *gyre_its_buffers_, gyre_context *gyre_its_context_)     \
    {                                                                                                        \
        const gyre_keyed_hooks_ gyre_its_hooks_ = __VA_ARGS__;                                               \
        const gyre_u8 *gyre_its_key_ = (const gyre_u8 *)gyre_its_request_ + offsetof(request_, key_);        \
        gyre_keyed_use_ gyre_its_use_;                                                                       \
        if (!gyre_admit_##request_(gyre_its_context_,                                                        \
                                   gyre_its_request_)) /* before GYRE_BORN reads its parts */                \
            return GYRE_FAILED;                                                                              \
        if (!gyre_keyed_enter_(gyre_its_table_, gyre_its_key_, gyre_its_request_, &gyre_its_hooks_,          \
                               gyre_its_context_, &gyre_its_use_))                                           \
            return GYRE_FAILED;                                                                              \
        const int gyre_its_result_ = GYRE_CALLS_(name_)(                                                     \
            gyre_its_request_, gyre_its_reply_, gyre_keyed_state(gyre_its_table_, gyre_its_use_.entry),      \
            gyre_its_scratch_, gyre_its_buffers_, gyre_its_context_);                                        \
        GYRE_CANARY_COUNT_(gyre_its_use_.part, gyre_its_key_, sizeof(((request_ *)0)->key_),                 \
                           gyre_its_context_->failed != 0);                                                  \
        gyre_keyed_leave_(gyre_its_table_, gyre_its_context_, &gyre_its_use_);                               \
        return gyre_its_result_;                                                                             \
    }
/* What follows `runner_` are further members of the descriptor, with a comma behind each. */
#define GYRE_KEYED_DESCRIBE_(name_, request_, reply_, state_, key_, reminds_, runner_, ...)                  \
    GYRE_DESCRIBE_AS_(gyre_keyed_handler_##name_, 4, name_, request_, reply_, gyre_none, state_, gyre_none,  \
                      runner_, .key = #key_, .key_offset = offsetof(request_, key_),                         \
                      .key_size = sizeof(((request_ *)0)->key_), .remind = reminds_, __VA_ARGS__)
#define GYRE_DECLARE_KEYED_(name_, request_, reply_, state_, key_, hooks_, reminds_)                         \
    GYRE_HANDLE_(4, name_, request_, reply_, gyre_none, state_, gyre_none)                                   \
    GYRE_KEYED_CALL_(name_, request_, key_, hooks_)                                                          \
    GYRE_RUNNER_OF_(name_, request_, reply_, gyre_keyed_handler_##name_)                                     \
    GYRE_KEYED_DESCRIBE_(name_, request_, reply_, state_, key_, reminds_, gyre_runner_##name_, )
#endif
#define GYRE_KEYED_NO_HOOKS_                                                                                 \
    {                                                                                                        \
        0, 0, 0                                                                                              \
    }
#define GYRE_KEYED_HOOKS_(name_)                                                                             \
    {                                                                                                        \
        gyre_births_##name_, gyre_leaves_##name_, 0                                                          \
    }
#define GYRE_KEYED_REMINDS_(name_)                                                                           \
    {                                                                                                        \
        0, 0, gyre_reminds_##name_                                                                           \
    }
#define GYRE_KEYED_ALL_HOOKS_(name_)                                                                         \
    {                                                                                                        \
        gyre_births_##name_, gyre_leaves_##name_, gyre_reminds_##name_                                       \
    }
/* the hooks behind the untyped signatures that the table calls */
#ifdef GYRE_CHECK
#define GYRE_DECLARE_LIVES_(name_, request_, state_) GYRE_KEYED_LIVES_(name_, request_, state_)
#define GYRE_DECLARE_REMINDED_(name_, state_)        GYRE_KEYED_REMINDED_(name_, state_)
#else
#define GYRE_DECLARE_REMINDED_(name_, state_)                                                                \
    GYRE_KEYED_REMINDED_(name_, state_)                                                                      \
    GYRE_HOOK_ static void gyre_reminds_##name_(                                                             \
        void *gyre_its_state_, const gyre_reminder *gyre_its_reminder_, gyre_context *gyre_its_context_)     \
    {                                                                                                        \
        GYRE_CALLS_HOOK_(gyre_reminded_##name_(gyre_its_state_, gyre_its_reminder_, gyre_its_context_),      \
                         gyre_its_context_, 0, 0, 0, gyre_its_state_, gyre_size_##state_,                    \
                         gyre_its_reminder_, sizeof *gyre_its_reminder_);                                    \
    }                                                                                                        \
    static int gyre_fires_##name_(void *gyre_its_table_, gyre_context *gyre_its_context_,                    \
                                  gyre_u64 gyre_its_now_)                                                    \
    {                                                                                                        \
        return gyre_keyed_fire_(gyre_its_table_, gyre_reminds_##name_, gyre_its_context_,                    \
                                (gyre_i64)gyre_its_now_);                                                    \
    }
#define GYRE_DECLARE_LIVES_(name_, request_, state_)                                                         \
    GYRE_KEYED_LIVES_(name_, request_, state_)                                                               \
    GYRE_HOOK_ static void gyre_births_##name_(const void *gyre_its_request_, void *gyre_its_state_,         \
                                               gyre_context *gyre_its_context_)                              \
    {                                                                                                        \
        GYRE_CALLS_HOOK_(gyre_born_##name_(gyre_its_request_, gyre_its_state_, gyre_its_context_),           \
                         gyre_its_context_, gyre_its_request_, gyre_size_##request_, gyre_grows_##request_,  \
                         gyre_its_state_, gyre_size_##state_, 0, 0);                                         \
    }                                                                                                        \
    GYRE_HOOK_ static int gyre_leaves_##name_(void *gyre_its_state_, gyre_context *gyre_its_context_)        \
    {                                                                                                        \
        volatile int gyre_its_answer_ = 0; /* a hook that does wrong lets nobody leave */                    \
        GYRE_CALLS_HOOK_(gyre_its_answer_ =                                                                  \
                             gyre_passive_##name_(gyre_its_state_, gyre_its_context_) == GYRE_LEAVES,        \
                         gyre_its_context_, 0, 0, 0, gyre_its_state_, gyre_size_##state_, 0, 0);             \
        return gyre_its_answer_;                                                                             \
    }
#endif

#endif
