/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_CONFORMANCE_KEYED_H
#define GYRE_CONFORMANCE_KEYED_H

#include <gyre/message.h>

/* What a message does to the state of its key. */
#define MARK_ADDS     0
#define MARK_FAILS    1 /* the message fails, after it changed the state */
#define MARK_FORGETS  2
#define MARK_WAITS    3 /* for the next one, at keyed_lag */
#define MARK_RELEASES 4
/* at keyed_alarms: `number` is in how many nanoseconds the key is reminded */
#define MARK_REMINDS   5
#define MARK_UNREMINDS 6
#define MARK_RINGS     7 /* and again, `number` later, until it was reminded three times */
#define MARK_REFUSES   8 /* the reminder fails */
/* at keyed_letters: the correlation of a message that another key leaves for */
#define LETTER_CLEARS 4242
#define MARK_SENDERS  4 /* blocks of a kernel that sends marks, at most */

#define MARK(FIELD) FIELD(u64, key) FIELD(u64, number) FIELD(u32, what)
GYRE_MESSAGE(mark, MARK)
#define MARKS(FIELD) FIELD(u64, count) FIELD(u64, trace) FIELD(u64, block)
GYRE_MESSAGE(marks, MARKS)

#define ALARM(FIELD)                                                                                         \
    FIELD(u64, reminded)                                                                                     \
    FIELD(u64, due_ns) FIELD(u64, at_ns) FIELD(u64, now_ns) FIELD(u64, every_ns) FIELD(u32, what)
GYRE_MESSAGE(alarm_state, ALARM)

#define GUEST(FIELD) FIELD(u32, room) FIELD(id128, id)
GYRE_MESSAGE(guest, GUEST)
#define VISIT(FIELD) FIELD(guest, who) FIELD(u32, what) FIELD(utf8, note)
GYRE_MESSAGE_TAIL(visit, VISIT, 600)
#define STAY(FIELD) FIELD(u64, visits) FIELD(u64, born_with)
GYRE_MESSAGE(stay, STAY)

#endif
