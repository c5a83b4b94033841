/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the crash tests: a request says how its handler fares. */
#ifndef GYRE_TESTS_CRASH_H
#define GYRE_TESTS_CRASH_H

#include <gyre/message.h>

enum crash_fault {
    CRASH_NOT = 0,
    CRASH_SEGFAULT = 1,
    CRASH_ABORT = 2,
    CRASH_TRAP = 3,
    CRASH_LOOP = 4,
    CRASH_EXIT = 5,
    CRASH_DIVIDE = 6,
    CRASH_STOP = 7,   /* the worker stops itself, as by SIGSTOP */
    CRASH_SLOW = 8,   /* no fault: it takes 60 ms */
    CRASH_ASSERT = 9, /* no fault: gyre_assert is false */
    CRASH_MISALIGNED = 10,
    CRASH_MEMORY = 11, /* the worker gets no memory any more, and uses what it did not get */
    CRASH_CUT = 12,    /* the worker's socket is cut */
    CRASH_WAIT = 13    /* no fault: it takes until the test lets it go on (let_handlers_go_on) */
};

/* `always` 0: the fault happens once, whatever becomes of the worker (crash.gyre.c). */
#define CRASH_REQUEST(FIELD) FIELD(u32, fault) FIELD(u32, always) FIELD(u64, number)
GYRE_MESSAGE(crash_request, CRASH_REQUEST)

#define CRASH_REPLY(FIELD) FIELD(u64, number) FIELD(u64, check)
GYRE_MESSAGE(crash_reply, CRASH_REPLY)

#define CRASH_STATE(FIELD) FIELD(u64, count) FIELD(u64, hash)
GYRE_MESSAGE(crash_state, CRASH_STATE)

/* With a span that lies in a device buffer. */
#define CRASH_SPAN(FIELD) FIELD(u32, fault) FIELD(u32, always) FIELD(u64, number) FIELD(span_u64, words)
GYRE_MESSAGE_TAIL(crash_span, CRASH_SPAN, 64)

/* Of many bytes, stored back to back. */
#define CRASH_CHAT(FIELD) FIELD(u64, number) FIELD(span_u64, words)
GYRE_MESSAGE_TAIL(crash_chat, CRASH_CHAT, 4096)

#define CRASH_BUFFERS(IN, INOUT) INOUT(u64, sums)

#endif
