/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the conformance kernels. */
#ifndef GYRE_CONFORMANCE_MESSAGES_H
#define GYRE_CONFORMANCE_MESSAGES_H

#include <gyre/message.h>

#define WORDS_1(FIELD)    FIELD(u64, w[1])
#define WORDS_6(FIELD)    FIELD(u64, w[6])
#define WORDS_7(FIELD)    FIELD(u64, w[7])
#define WORDS_128(FIELD)  FIELD(u64, w[128])
#define WORDS_8192(FIELD) FIELD(u64, w[8192])
GYRE_MESSAGE(words_1, WORDS_1)
GYRE_MESSAGE(words_6, WORDS_6)
GYRE_MESSAGE(words_7, WORDS_7)
GYRE_MESSAGE(words_128, WORDS_128)
GYRE_MESSAGE(words_8192, WORDS_8192)

/* What a request of `behave` asks the handler to do with its number. */
#define BEHAVIOUR(FIELD) FIELD(u32, what) FIELD(u32, microseconds) FIELD(u64, number)
GYRE_MESSAGE(behaviour, BEHAVIOUR)
enum {
    BEHAVE_REPLY = 0,
    BEHAVE_NO_REPLY = 1,
    BEHAVE_FAIL = 2,
    BEHAVE_ASSERT = 3,
    BEHAVE_LOG = 4,
    BEHAVE_WAIT = 5,
    BEHAVE_NONSENSE = 6
};

#define TALLY(FIELD) FIELD(u64, count) FIELD(u64, sum)
GYRE_MESSAGE(tally, TALLY)

#define LANE_REPORT(FIELD)                                                                                   \
    FIELD(u64, sum) FIELD(u32, lanes) FIELD(u32, highest) FIELD(u32, first) FIELD(u32, blocks)
GYRE_MESSAGE(lane_report, LANE_REPORT)

/* Sums, or overwrites with its place plus `add`, the words of a named buffer. */
#define NAMED_WORDS(FIELD)                                                                                   \
    FIELD(gyre_handle, words) FIELD(u32, writes) FIELD(u32, microseconds) FIELD(u64, add)
GYRE_MESSAGE(named_words, NAMED_WORDS)

/* What rings are chosen by: a field of a record, or a text. */
#define ORDER_WHO(FIELD) FIELD(u64, account) FIELD(u32, desk)
GYRE_MESSAGE(order_who, ORDER_WHO)
#define ORDER(FIELD)       FIELD(u64, number) FIELD(order_who, who)
#define ORDER_REPLY(FIELD) FIELD(u64, number) FIELD(order_who, who) FIELD(u64, total)
GYRE_MESSAGE(order, ORDER)
GYRE_MESSAGE(order_reply, ORDER_REPLY)
#define NOTE_REQUEST(FIELD) FIELD(utf8, other) FIELD(utf8, name)
GYRE_MESSAGE_TAIL(note_request, NOTE_REQUEST, 96)

/* What a handler sees of a header, all of it and some of it. */
#define HEADER_SEEN(FIELD)                                                                                   \
    FIELD(u64, word)                                                                                         \
    FIELD(u32, size)                                                                                         \
    FIELD(u32, type)                                                                                         \
    FIELD(u64, priority)                                                                                     \
    FIELD(u64, id)                                                                                           \
    FIELD(u64, correlation)                                                                                  \
    FIELD(u64, deadline_ns) FIELD(u64, sent_ns) FIELD(u32, sender) FIELD(u32, receiver) FIELD(u64, trace[2])
GYRE_MESSAGE(header_seen, HEADER_SEEN)
#define HEADER_SHORT(FIELD)                                                                                  \
    FIELD(u64, word) FIELD(u64, id) FIELD(u64, trace) FIELD(u32, type) FIELD(u32, size)
GYRE_MESSAGE(header_short, HEADER_SHORT)
/* Of any length: queues store these back to back. */
#define LETTER(FIELD) FIELD(u64, number) FIELD(u32, wanted) FIELD(u32, silent) FIELD(span_u64, words)
GYRE_MESSAGE_TAIL(letter, LETTER, 65000)

#endif
