/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the scribblers: a request says what its handler writes where it must not. */
#ifndef GYRE_TESTS_SCRIBBLE_H
#define GYRE_TESTS_SCRIBBLE_H

#include <gyre/message.h>

enum scribble_how {
    SCRIBBLE_NOT = 0,
    SCRIBBLE_BEYOND = 1,  /* so many KB from its reply on */
    SCRIBBLE_BEFORE = 2,  /* so many KB up to its reply */
    SCRIBBLE_ALL = 3,     /* every byte of the memory that its worker shares with the program */
    SCRIBBLE_CONTROL = 4, /* the same of the control regions alone */
    SCRIBBLE_WORDS = 5,   /* single words of that memory, again and again */
    SCRIBBLE_AHEAD = 6,   /* completions of requests that were not sent */
    SCRIBBLE_HOWS = 7,
    SCRIBBLE_LENGTH =
        7 /* this request's completion, with a length that is none; not among those that are drawn */
};

enum scribble_then { SCRIBBLE_RETURN = 0, SCRIBBLE_EXIT = 1, SCRIBBLE_LOOP = 2, SCRIBBLE_THENS = 3 };

#define SCRIBBLE_REQUEST(FIELD)                                                                              \
    FIELD(u32, how)                                                                                          \
    FIELD(u32, then) FIELD(u32, kilobytes) FIELD(u32, unused) FIELD(u64, seed) FIELD(u64, number)
GYRE_MESSAGE(scribble_request, SCRIBBLE_REQUEST)

#define SCRIBBLE_REPLY(FIELD) FIELD(u64, number) FIELD(u64, check)
GYRE_MESSAGE(scribble_reply, SCRIBBLE_REPLY)

#define SCRIBBLE_STATE(FIELD) FIELD(u64, count)
GYRE_MESSAGE(scribble_state, SCRIBBLE_STATE)

/* Of many bytes, stored back to back. */
#define SCRIBBLE_CHAT(FIELD) FIELD(u64, number) FIELD(span_u64, words)
GYRE_MESSAGE_TAIL(scribble_chat, SCRIBBLE_CHAT, 4096)

#endif
