/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reminders of keyed actors in OpenCL C. An epoch without messages reminds the keys that are due; each epoch leaves behind, in spare words of the log's
 * head, when the next one is. By ticks, with checkpoints, keys are reminded before messages, too, as on the CPU (c11_keyed.h).
 * The lane that handles the messages of all blocks does it. Included by opencl_keyed.h.
 *
 * The hook of a kernel has the name of what its declaration gives as `reminds` (forms.h); that of a kernel without reminders is 0.
 */
#ifndef GYRE_DIALECT_OPENCL_KEYED_REMINDERS_H
#define GYRE_DIALECT_OPENCL_KEYED_REMINDERS_H

#define GYRE_REMINDED_AT_ONCE_ 64

/* A kernel that reminds nobody. */
enum { gyre_keys_are_reminded_0 = 0 };
GYRE_HELPER void gyre_reminding_0(__global void *state, const gyre_reminder *reminder, gyre_context *gyre)
{
    (void)state;
    (void)reminder;
    (void)gyre;
}

#define GYRE_DECLARE_REMINDED_(name_, state_)                                                                \
    GYRE_KEYED_REMINDED_(name_, state_)                                                                      \
    GYRE_EXPORTED_TEXT_(gyre_reminds_##name_, "reminds")                                                     \
    enum { gyre_keys_are_reminded_gyre_fires_##name_ = 1 };                                                  \
    GYRE_HELPER void gyre_reminding_gyre_fires_##name_(__global void *gyre_its_state_,                       \
                                                       const gyre_reminder *gyre_its_reminder_,              \
                                                       gyre_context *gyre_its_context_)                      \
    {                                                                                                        \
        gyre_reminded_##name_((__global state_ *)gyre_its_state_, gyre_its_reminder_, gyre_its_context_);    \
    }

/* ---- times that the host reads ---- */

GYRE_HELPER gyre_i64 gyre_due_load_(const __global gyre_device_log *log, gyre_u32 word)
{
    return (gyre_i64)((gyre_u64)log->reserved[word + 1] << 32 | log->reserved[word]);
}

GYRE_HELPER void gyre_due_store_(__global gyre_device_log *log, gyre_u32 word, gyre_i64 value)
{
    log->reserved[word] = (gyre_u32)(gyre_u64)value;
    log->reserved[word + 1] = (gyre_u32)((gyre_u64)value >> 32);
}

/* The host's clock may be another one: it is told how long there is left, unless times are those of messages. */
GYRE_HELPER void gyre_due_tell_(const gyre_context *gyre)
{
    gyre_i64 told = gyre->next_due_ns;
    if (!gyre->by_sent && told != GYRE_KEYED_NO_DUE) {
        const gyre_i64 now_ns = (gyre_i64)gyre_time_ns(gyre);
        told = told > now_ns ? told - now_ns : 0;
    }
    gyre_due_store_(gyre->log, GYRE_EPOCH_DUE_WORD, gyre->next_due_ns);
    gyre_due_store_(gyre->log, GYRE_EPOCH_LEFT_WORD, told);
}

/* ---- a reminder ---- */

/* Nobody waits for the answer to a reminder: a failure is told in the log. */
GYRE_HELPER void gyre_reminder_failed_(gyre_context *gyre)
{
    if (!gyre->failed)
        return;
    gyre->failed = 0;
    gyre_log_behind_(gyre, "a reminder failed: ", gyre->fail_text, gyre->fail_code);
}

/* A reminder, also one that comes before a message, knows nothing of the message. */
GYRE_HELPER void gyre_reminder_begin_(gyre_context *gyre, gyre_u32 block, gyre_i64 due_ns)
{
    GYRE_HEADER_QUEUE_(gyre, 0, 0, 0);
    GYRE_HEADER_AT_(gyre, 0);
    GYRE_FLOWS_NONE_(gyre);
    gyre->block = block;
    gyre->failed = 0;
    gyre->forgets = 0;
    gyre->reminds = GYRE_REMINDS_AS_IS_;
    gyre->from_ns = due_ns;
}

/*
 * Defines what is done around messages: gyre_keyed_remind_NAME reminds a key that is due, after which it may have left; _before_ those of
 * a message's part that were due when it was sent; _begin_ and _end_ what an epoch does.
 */
#define GYRE_KEYED_REMINDERS_(name_, reminds_)                                                               \
    GYRE_HELPER void gyre_keyed_remind_##name_(const __global gyre_keyed_table *gyre_its_table_,             \
                                               __global gyre_keyed_part *gyre_its_part_,                     \
                                               gyre_u32 gyre_its_number_, gyre_context *gyre_its_context_)   \
    {                                                                                                        \
        __global gyre_keyed_entry *gyre_its_entry_ = gyre_keyed_entry_at(                                    \
            gyre_its_table_, gyre_its_part_, gyre_keyed_heap(gyre_its_table_, gyre_its_part_)[0]);           \
        gyre_context gyre_its_own_ = *gyre_its_context_;                                                     \
        gyre_reminder gyre_its_reminder_;                                                                    \
        const gyre_i64 gyre_its_due_ = gyre_keyed_due_of(gyre_its_table_, gyre_its_entry_)->due_ns;          \
        gyre_its_reminder_.due_ns = (gyre_u64)gyre_its_due_;                                                 \
        gyre_due_clear_(gyre_its_table_, gyre_its_part_, gyre_its_entry_);                                   \
        gyre_reminder_begin_(                                                                                \
            &gyre_its_own_,                                                                                  \
            gyre_keyed_owner(gyre_its_table_, gyre_its_number_, gyre_its_context_->block_count),             \
            gyre_its_due_);                                                                                  \
        gyre_reminding_##reminds_(gyre_keyed_state(gyre_its_table_, gyre_its_entry_), &gyre_its_reminder_,   \
                                  &gyre_its_own_);                                                           \
        if (gyre_its_own_.reminds == GYRE_REMINDS_AT_)                                                       \
            gyre_remind_again_(&gyre_its_own_, gyre_its_due_);                                               \
        gyre_reminders_keep_(gyre_its_table_, gyre_its_part_, gyre_its_entry_, &gyre_its_own_);              \
        gyre_its_context_->next_due_ns = gyre_its_own_.next_due_ns;                                          \
        if (gyre_its_own_.forgets)                                                                           \
            gyre_keyed_remove_(gyre_its_table_, gyre_its_part_, gyre_its_entry_);                            \
        gyre_reminder_failed_(&gyre_its_own_);                                                               \
    }                                                                                                        \
    GYRE_HELPER void gyre_keyed_before_##name_(const __global gyre_keyed_table *gyre_its_table_,             \
                                               gyre_u64 gyre_its_hash_, gyre_context *gyre_its_context_)     \
    {                                                                                                        \
        const gyre_u32 gyre_its_number_ = gyre_keyed_part_of(gyre_its_table_, gyre_its_hash_);               \
        __global gyre_keyed_part *gyre_its_part_ = gyre_keyed_part_at(gyre_its_table_, gyre_its_number_);    \
        const gyre_i64 gyre_its_sent_ = (gyre_i64)gyre_header_sent_ns(gyre_its_context_);                    \
        while (gyre_its_part_->reminders &&                                                                  \
               gyre_due_at_(gyre_its_table_, gyre_its_part_, 0)->due_ns <= gyre_its_sent_)                   \
            gyre_keyed_remind_##name_(gyre_its_table_, gyre_its_part_, gyre_its_number_, gyre_its_context_); \
    }                                                                                                        \
    GYRE_HELPER void gyre_keyed_fire_##name_(const __global gyre_keyed_table *gyre_its_table_,               \
                                             gyre_context *gyre_its_context_, gyre_i64 gyre_its_now_)        \
    {                                                                                                        \
        gyre_i64 gyre_its_next_ = GYRE_KEYED_NO_DUE;                                                         \
        gyre_u32 gyre_its_count_ = 0;                                                                        \
        for (gyre_u32 gyre_its_i_ = 0; gyre_its_i_ < 1u << gyre_its_table_->parts_log2; gyre_its_i_++) {     \
            __global gyre_keyed_part *gyre_its_part_ = gyre_keyed_part_at(gyre_its_table_, gyre_its_i_);     \
            for (; gyre_its_part_->reminders && gyre_its_count_ < GYRE_REMINDED_AT_ONCE_ &&                  \
                   gyre_due_at_(gyre_its_table_, gyre_its_part_, 0)->due_ns <= gyre_its_now_;                \
                 gyre_its_count_++)                                                                          \
                gyre_keyed_remind_##name_(gyre_its_table_, gyre_its_part_, gyre_its_i_, gyre_its_context_);  \
            if (gyre_its_part_->reminders &&                                                                 \
                gyre_due_at_(gyre_its_table_, gyre_its_part_, 0)->due_ns < gyre_its_next_)                   \
                gyre_its_next_ = gyre_due_at_(gyre_its_table_, gyre_its_part_, 0)->due_ns;                   \
        }                                                                                                    \
        gyre_its_context_->next_due_ns = gyre_its_next_;                                                     \
    }                                                                                                        \
    GYRE_HELPER void gyre_keyed_begin_##name_(const __global gyre_keyed_table *gyre_its_table_,              \
                                              const gyre_epoch *gyre_its_epoch_,                             \
                                              gyre_context *gyre_its_context_)                               \
    {                                                                                                        \
        gyre_its_context_->reminds = GYRE_REMINDS_NEVER_;                                                    \
        gyre_its_context_->by_sent = gyre_its_epoch_->by_sent;                                               \
        gyre_its_context_->from_ns = gyre_its_context_->remind_at_ns = 0;                                    \
        gyre_its_context_->next_due_ns = 0;                                                                  \
        if (!gyre_keys_are_reminded_##reminds_ || get_global_id(0) > 0)                                      \
            return;                                                                                          \
        gyre_its_context_->next_due_ns = gyre_due_load_(gyre_its_context_->log, GYRE_EPOCH_DUE_WORD);        \
        if (gyre_its_epoch_->reminds)                                                                        \
            gyre_keyed_fire_##name_(gyre_its_table_, gyre_its_context_,                                      \
                                    gyre_its_epoch_->by_sent ? gyre_its_epoch_->remind_ns                    \
                                                             : (gyre_i64)gyre_time_ns(gyre_its_context_));   \
    }                                                                                                        \
    GYRE_HELPER void gyre_keyed_end_##name_(const gyre_context *gyre_its_context_)                           \
    {                                                                                                        \
        if (gyre_keys_are_reminded_##reminds_ && get_global_id(0) == 0)                                      \
            gyre_due_tell_(gyre_its_context_);                                                               \
    }

#endif
