/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of handlers whose clients write into their requests and replies while these are handled. */
#ifndef GYRE_TESTS_FOREIGN_H
#define GYRE_TESTS_FOREIGN_H

#include <gyre/message.h>

#define FOREIGN_WORDS 32 /* of a request */
/* The failure of a handler whose message's header is another one at a second look: a number that no attacker scribbles. */
#define FOREIGN_CHANGED 770077

#define FOREIGN_ASK(FIELD) FIELD(u64, number) FIELD(span_u64, words) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(foreign_ask, FOREIGN_ASK, 512)
#define FOREIGN_TOLD(FIELD) FIELD(u64, number) FIELD(span_u64, words) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(foreign_told, FOREIGN_TOLD, 640)

/* What a line holds. */
#define FOREIGN_LITTLE(FIELD) FIELD(u32, number) FIELD(span_u64, words)
GYRE_MESSAGE_TAIL(foreign_little, FOREIGN_LITTLE, 24)

#define FOREIGN_COUNT(FIELD) FIELD(u64, number)
GYRE_MESSAGE(foreign_count, FOREIGN_COUNT)

#define FOREIGN_BOTH(TAKES) TAKES(foreign_ask, foreign_told) TAKES(foreign_count, foreign_count)
GYRE_PROTOCOL(foreign_both, FOREIGN_BOTH)

#define FOREIGN_STATE(FIELD) FIELD(u64, handled)
GYRE_MESSAGE(foreign_state, FOREIGN_STATE)

/* ---- replies of which handlers leave something out ---- */

#define FOREIGN_HOLES(FIELD) FIELD(u8, one) FIELD(u64, two) FIELD(u8, three) FIELD(u32, four)
GYRE_MESSAGE(foreign_holes, FOREIGN_HOLES)
#define FOREIGN_LARGE(FIELD) FIELD(u8, one) FIELD(u64, words[100]) FIELD(u8, last)
GYRE_MESSAGE(foreign_large, FOREIGN_LARGE)
#define FOREIGN_TAIL(FIELD) FIELD(u64, number) FIELD(span_u64, words) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(foreign_tail, FOREIGN_TAIL, 400)

#define FOREIGN_POKE(FIELD) FIELD(u64, number)
GYRE_MESSAGE(foreign_poke, FOREIGN_POKE)
#define FOREIGN_LEFT_OUT(TAKES) TAKES(foreign_poke, foreign_holes) TAKES(foreign_large, foreign_large)
GYRE_PROTOCOL(foreign_left_out, FOREIGN_LEFT_OUT)

#endif
