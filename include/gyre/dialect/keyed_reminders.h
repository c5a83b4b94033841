/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reminders of keyed actors: what handlers ask for. The heap of those that wait is in keyed_table.h. C11, CUDA C++ and OpenCL C share this text.
 *
 * Included by c11_keyed.h, cuda_keyed.h and opencl_keyed.h, which define GYRE_CALLED_, the qualifiers of a function, GYRE_REMINDS_NOW_(context), the
 * clock of gyre_time_ns, and GYRE_REMINDS_FAIL_(context, text).
 */
#ifndef GYRE_DIALECT_KEYED_REMINDERS_H
#define GYRE_DIALECT_KEYED_REMINDERS_H

#include "gyre/dialect/reminder.h"
#include "gyre/dialect/keyed_table.h"

/* gyre_context.reminds: what the handler that runs may do, and has done */
#define GYRE_REMINDS_NEVER_ 0 /* it has no GYRE_REMINDED */
#define GYRE_REMINDS_AS_IS_ 1
#define GYRE_REMINDS_AT_    2 /* at gyre_context.remind_at_ns */
#define GYRE_REMINDS_NOT_   3

/* ---- what handlers ask for ---- */

GYRE_CALLED_ void gyre_remind_as_(gyre_context *gyre, gyre_u32 reminds)
{
    if (gyre->reminds) {
        gyre->reminds = reminds;
        return;
    }
    GYRE_REMINDS_FAIL_(gyre, "gyre_remind without a GYRE_REMINDED");
}

/* `ns` later than a time; the last time that a reminder can have when that is later still, which never comes. */
GYRE_CALLED_ gyre_i64 gyre_due_after_(gyre_i64 from_ns, gyre_u64 ns)
{
    const gyre_i64 last_ns = GYRE_KEYED_NO_DUE - 1;
    if (from_ns > last_ns || ns > (gyre_u64)last_ns - (gyre_u64)from_ns)
        return last_ns;
    return (gyre_i64)((gyre_u64)from_ns + ns);
}

/** The key of the message is reminded `ns` later, or of a reminder: later than that was due. In place of an earlier reminder. */
GYRE_CALLED_ void gyre_remind(gyre_context *gyre, gyre_u64 ns)
{
    const gyre_i64 now_ns = gyre->by_sent ? 0 : (gyre_i64)GYRE_REMINDS_NOW_(gyre);
    gyre->remind_at_ns = gyre_due_after_(gyre->from_ns ? gyre->from_ns : now_ns, ns);
    gyre_remind_as_(gyre, GYRE_REMINDS_AT_);
}

/** The key of the message is not reminded. */
GYRE_CALLED_ void gyre_unremind(gyre_context *gyre)
{
    gyre_remind_as_(gyre, GYRE_REMINDS_NOT_);
}

#define GYRE_REMINDS_AGAIN_NS_ 10000000

/*
 * A reminder, which was due at `due_ns`, asked for the next one. That is later: else it would come for ever. By ticks it is so much later
 * that what comes before a message is in proportion to the time since the reminder; by the clock, what was missed comes once.
 */
GYRE_CALLED_ void gyre_remind_again_(gyre_context *context, gyre_i64 due_ns)
{
    const gyre_i64 least_ns = context->by_sent ? gyre_due_after_(due_ns, GYRE_REMINDS_AGAIN_NS_)
                                               : (gyre_i64)GYRE_REMINDS_NOW_(context);
    if (context->remind_at_ns <= due_ns) {
        context->reminds = GYRE_REMINDS_AS_IS_; /* it has none: this one was it */
        GYRE_REMINDS_FAIL_(context, "gyre_remind by 0 ns in GYRE_REMINDED");
    } else if (context->remind_at_ns < least_ns) {
        context->remind_at_ns = least_ns;
    }
}

/* Does what the handler, which has returned, asked for. */
GYRE_CALLED_ void gyre_reminders_keep_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                       GYRE_KEYED_AT_ gyre_keyed_part *part,
                                       GYRE_KEYED_AT_ gyre_keyed_entry *entry, gyre_context *context)
{
    if (context->reminds == GYRE_REMINDS_NOT_)
        gyre_due_clear_(table, part, entry);
    if (context->reminds == GYRE_REMINDS_AT_) {
        gyre_due_set_(table, part, entry, context->remind_at_ns);
        if (context->remind_at_ns < context->next_due_ns)
            context->next_due_ns = context->remind_at_ns;
    }
    context->reminds = GYRE_REMINDS_NEVER_;
}

#endif
