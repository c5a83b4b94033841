/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reminders of keyed actors on CUDA. A part has a heap of the keys that have one (keyed_table.h), and the part's thread, which handles the
 * messages of its keys, reminds them too. A block knows when the first of its keys is due (gyre_block_view.wake_ns); whatever looks for
 * another order while the block waits for messages looks at that as well (gyre_order_changed_). By ticks, with checkpoints, the
 * keys of a part that were due when a message was sent are reminded before it, as on the CPU (c11_keyed.h). Included by cuda_keyed.h.
 *
 * Kernels without GYRE_REMINDED hold no trace of it.
 */
#ifndef GYRE_DIALECT_CUDA_KEYED_REMINDERS_H
#define GYRE_DIALECT_CUDA_KEYED_REMINDERS_H

#define GYRE_REMINDED_AT_ONCE_                                                                               \
    64 /* keys of a part that are reminded before the block looks at messages again */

template <class K> GYRE_HELPER constexpr bool gyre_keyed_has_reminders_()
{
    return K::gyre_its_hooks_::gyre_its_keys_are_reminded_ != 0;
}

/* ---- around a handler ---- */

/* Called by each thread, before it handles messages. */
GYRE_HELPER void gyre_keyed_reminders_make_(const gyre_cuda_arguments &arguments, gyre_context *gyre)
{
    gyre->reminds = GYRE_REMINDS_NEVER_;
    gyre->by_sent = gyre_half_load_(&arguments.control->command.by_ticks);
    gyre->remind_at_ns = gyre->from_ns = 0;
    gyre->next_due_ns = GYRE_NEVER_WOKEN_;
}

/* Says to a message's handler what it may ask for. */
template <class K> GYRE_HELPER void gyre_keyed_may_remind_(gyre_context *gyre)
{
    if (!gyre_keyed_has_reminders_<K>())
        return;
    gyre->reminds = GYRE_REMINDS_AS_IS_;
    gyre->from_ns = gyre->by_sent ? (gyre_i64)gyre_header_sent_ns(gyre) : 0;
}

/* Does what the handler of a message, which has returned, asked for. */
template <class K>
GYRE_HELPER void gyre_keyed_keep_reminder_(const gyre_keyed_turn_<K> *turn, gyre_keyed_entry *entry,
                                           gyre_context *gyre)
{
    if (gyre_keyed_has_reminders_<K>())
        gyre_reminders_keep_(turn->table, turn->part, entry, gyre);
}

/* ---- a reminder ---- */

/* Nobody waits for the answer to a reminder: a failure is told in the log. */
GYRE_HELPER void gyre_keyed_reminder_failed_(gyre_context *gyre)
{
    const char front[] = "a reminder failed: ";
    char text[sizeof front + sizeof((gyre_failure *)0)->text];
    gyre_u32 length = 0;
    if (!gyre->failed)
        return;
    gyre->failed = 0;
    for (; front[length]; length++)
        text[length] = front[length];
    for (const char *at = gyre->fail_text; *at && length < sizeof text - 1; at++)
        text[length++] = *at;
    text[length] = 0;
    gyre_log(gyre, text, gyre->fail_code);
}

/* Reminds a key that is due. Afterwards it may have left. A reminder, also one that comes before a message, knows nothing of the message. */
template <class K>
GYRE_HELPER void gyre_keyed_remind_(gyre_keyed_turn_<K> *turn, gyre_keyed_entry *entry, gyre_context *message)
{
    gyre_context gyre = *message;
    const gyre_i64 due_ns = gyre_keyed_due_of(turn->table, entry)->due_ns;
    const gyre_reminder reminder = {(gyre_u64)due_ns};
    gyre_keyed_put_<K>(turn); /* the hook sees the state in the table */
    gyre_due_clear_(turn->table, turn->part, entry);
    GYRE_HEADER_QUEUE_(&gyre, 0, 0, 0);
    GYRE_HEADER_FOREIGN_(&gyre, 0);
#if GYRE_HEADED
    gyre.header = 0;
#endif
#if GYRE_STAGE
    gyre.origin = gyre.index = 0;
    gyre.entry = 0;
#endif
    gyre.failed = 0;
    gyre.forgets = 0;
    gyre.reminds = GYRE_REMINDS_AS_IS_;
    gyre.from_ns = due_ns;
    K::gyre_its_hooks_::gyre_its_reminded_(gyre_keyed_state(turn->table, entry), &reminder, &gyre);
    if (gyre.reminds == GYRE_REMINDS_AT_)
        gyre_remind_again_(&gyre, due_ns);
    gyre_reminders_keep_(turn->table, turn->part, entry, &gyre);
    message->next_due_ns = gyre.next_due_ns;
    if (gyre.forgets) {
        gyre_keyed_remove_(turn->table, turn->part, entry);
        turn->changed = 1;
    }
    gyre_keyed_reminder_failed_(&gyre);
}

/* The entry whose reminder is the next one of the part; NULL unless it is due by `now_ns`. */
GYRE_HELPER gyre_keyed_entry *gyre_keyed_due_by_(const gyre_keyed_table *table, gyre_keyed_part *part,
                                                 gyre_i64 now_ns)
{
    return part->reminders && gyre_due_at_(table, part, 0)->due_ns <= now_ns
               ? gyre_keyed_entry_at(table, part, gyre_keyed_heap(table, part)[0])
               : 0;
}

/* By ticks: reminds the keys of the message's part that were due when it was sent, in their order, as a replay does. */
template <class K> GYRE_HELPER void gyre_keyed_remind_before_(gyre_keyed_turn_<K> *turn, gyre_context *gyre)
{
    if (!gyre_keyed_has_reminders_<K>() || !gyre->by_sent)
        return;
    const gyre_i64 sent_ns = (gyre_i64)gyre_header_sent_ns(gyre);
    gyre_keyed_entry *entry;
    while ((entry = gyre_keyed_due_by_(turn->table, turn->part, sent_ns)))
        gyre_keyed_remind_<K>(turn, entry, gyre);
}

/* ---- a block ---- */

/* Tells the host when it has to announce a time. Called by one thread. */
GYRE_HELPER void gyre_keyed_tell_due_(const gyre_cuda_arguments &arguments, gyre_block_view *view)
{
    const gyre_i64 wake_ns = *(volatile gyre_i64 *)&view->wake_ns;
    const gyre_i64 due_ns = wake_ns == GYRE_NEVER_WOKEN_ ? 0 : wake_ns == 0 ? -1 : wake_ns;
    if (!view->by_ticks || due_ns == view->told_due)
        return;
    view->told_due = due_ns;
    gyre_word_store_((gyre_u64 *)&((gyre_control_block *)(arguments.control + 1) + blockIdx.x)->due_ns,
                     (gyre_u64)due_ns);
}

/* Notes when the handlers of this thread want keys to be reminded. Called by all threads, which meet afterwards. */
template <class K>
GYRE_HELPER void gyre_keyed_note_due_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                      gyre_context *gyre)
{
    if constexpr (gyre_keyed_has_reminders_<K>()) {
        if (gyre->next_due_ns != GYRE_NEVER_WOKEN_)
            atomicMin((long long *)&view->wake_ns, (long long)gyre->next_due_ns);
        gyre->next_due_ns = GYRE_NEVER_WOKEN_;
        if (!view->by_ticks)
            return;
        __syncthreads();
        if (threadIdx.x == 0)
            gyre_keyed_tell_due_(arguments, view);
    }
}

/* Reminds the keys that are due of the parts that owner `own` of `owners` has. Called by all threads. */
template <class K>
GYRE_HELPER void gyre_keyed_fire_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_u32 own,
                                  gyre_u32 owners, gyre_context *gyre)
{
    const gyre_keyed_table *table = (const gyre_keyed_table *)arguments.state;
    const gyre_u32 number = threadIdx.x;
    gyre_keyed_turn_<K> turn = {table, gyre_keyed_part_at(table, 0)};
    gyre_keyed_entry *entry;
    __shared__ gyre_i64 now_ns;
    if (number == 0) {
        gyre_turn_begins_(gyre_turn_(arguments, 0));
        now_ns = gyre_wake_clock_(view);
        view->wake_ns = GYRE_NEVER_WOKEN_;
    }
    __syncthreads();
    if (number < 1u << table->parts_log2 && gyre_keyed_owner(table, number, owners) == own) {
        turn.part = gyre_keyed_part_at(table, number);
#pragma unroll 1
        for (gyre_u32 i = 0;
             i < GYRE_REMINDED_AT_ONCE_ && (entry = gyre_keyed_due_by_(table, turn.part, now_ns)); i++)
            gyre_keyed_remind_<K>(&turn, entry, gyre);
        if (turn.part->reminders)
            atomicMin((long long *)&view->wake_ns, (long long)gyre_due_at_(table, turn.part, 0)->due_ns);
    }
    __syncthreads();
    if (number == 0) {
        gyre_turn_ends_(gyre_turn_(arguments, 0));
        gyre_keyed_tell_due_(arguments, view);
    }
}

/*
 * Reminds what was due before the block serves, as far as one look does. So keys are reminded however often orders come. Called by all
 * threads.
 */
template <class K>
GYRE_HELPER void gyre_keyed_reminders_begin_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                             gyre_u32 own, gyre_u32 owners, gyre_context *gyre)
{
    if constexpr (gyre_keyed_has_reminders_<K>())
        gyre_keyed_fire_<K>(arguments, view, own, owners, gyre);
}

/* The block reminds nobody while it waits for orders. */
template <class K> GYRE_HELPER void gyre_keyed_reminders_end_(gyre_block_view *view)
{
    if (gyre_keyed_has_reminders_<K>() && threadIdx.x == 0)
        view->wake_ns = GYRE_NEVER_WOKEN_;
}

/* Reminds keys if some are due. Called by all threads, which have met. */
template <class K>
GYRE_HELPER void gyre_keyed_remind_due_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                        gyre_u32 own, gyre_u32 owners, gyre_context *gyre)
{
    if constexpr (gyre_keyed_has_reminders_<K>()) {
        if (__syncthreads_or(threadIdx.x == 0 && gyre_is_woken_(view)))
            gyre_keyed_fire_<K>(arguments, view, own, owners, gyre);
    }
}

/*
 * Called by all threads when the block stopped waiting for messages: reminds keys, unless there is another order. Returns 0 then.
 */
template <class K>
GYRE_HELPER int gyre_keyed_reminds_(const gyre_cuda_arguments &arguments, gyre_block_view *view, gyre_u32 own,
                                    gyre_u32 owners, gyre_context *gyre)
{
    if constexpr (gyre_keyed_has_reminders_<K>()) {
        if (__syncthreads_or(threadIdx.x == 0 && gyre_word_load_(view->order_word) != view->order))
            return 0;
        gyre_keyed_remind_due_<K>(arguments, view, own, owners, gyre);
        if (threadIdx.x == 0)
            view->go = 0;
        __syncthreads();
        return 1;
    }
    return 0;
}

#endif
