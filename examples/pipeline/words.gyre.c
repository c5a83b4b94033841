/* SPDX-License-Identifier: Apache-2.0 */
/* One request becomes many messages, and one reply: split -> count. docs/pipelines.md explains it. */
#include <gyre/kernel.h>

#include "words.h"

#define SPLIT_PORTS(PORT) PORT(word, words, 60)
GYRE_PORTS(split_ports, SPLIT_PORTS)

#define LINES(FIELD) FIELD(u64, split)
GYRE_MESSAGE(lines, LINES)

/* An actor, so that the words of one line follow each other. It answers a line without words itself. */
GYRE_ACTOR_TO(split, line, summary, split_ports, lines)
{
    GYRE_GLOBAL word *out = 0;
    u32 length = 0;
    for (u32 i = 0; i <= 120; i++) {
        if (i < 120 && request->text[i] > ' ') {
            length++;
        } else if (length > 0) {
            out = gyre_emit(gyre, words);
            out->length = length;
            out->last = 0;
            length = 0;
        }
    }
    state->split++;
    if (out) {
        out->last = 1; /* it leaves when the handler has returned */
        return GYRE_NO_REPLY;
    }
    reply->words = 0;
    reply->longest = 0;
    return GYRE_REPLY;
}

/* Answers with the last word of a line. */
GYRE_ACTOR(count, word, summary, summary)
{
    state->words++;
    if (request->length > state->longest)
        state->longest = request->length;
    if (!request->last)
        return GYRE_NO_REPLY;
    *reply = *state;
    state->words = 0;
    state->longest = 0;
    return GYRE_REPLY;
}
