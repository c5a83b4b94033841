/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a few lines, one at a time. */
#ifndef GYRE_CONFORMANCE_CALLS_H
#define GYRE_CONFORMANCE_CALLS_H

#include <gyre/message.h>

#define CALL_6(FIELD)   FIELD(u64, w[6])
#define CALL_25(FIELD)  FIELD(u64, w[25])
#define CALL_255(FIELD) FIELD(u64, w[255])
#define CALL_256(FIELD) FIELD(u64, w[256])
#define CALL_257(FIELD) FIELD(u64, w[257])
GYRE_MESSAGE(call_6, CALL_6)
GYRE_MESSAGE(call_25, CALL_25)
GYRE_MESSAGE(call_255, CALL_255)
GYRE_MESSAGE(call_256, CALL_256)
GYRE_MESSAGE(call_257, CALL_257)

/* Of as many words as there are; asks for a failure, or for no reply, by its first one. */
#define CALL_WORDS(FIELD) FIELD(u64, number) FIELD(span_u64, words)
GYRE_MESSAGE_TAIL(call_words, CALL_WORDS, 900)
enum { CALL_FAILS = 1000001, CALL_IS_SILENT = 1000002 };

#endif
