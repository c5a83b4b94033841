/* SPDX-License-Identifier: Apache-2.0 */
/* Counts words, a text of 16 bytes each. Words that came once make room for new ones, those that came more often stay. */
#include <gyre/kernel.h>

#define WORD(FIELD) FIELD(u8, word[16])
GYRE_MESSAGE(word, WORD)

#define WORD_COUNT(FIELD) FIELD(u64, count) FIELD(u64, first_ns)
GYRE_MESSAGE(word_count, WORD_COUNT)

GYRE_KEYED_ACTOR_LIVES(words, word, word_count, word_count, word)
{
    state->count++;
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_BORN(words)
{
    state->first_ns = gyre_time_ns(gyre);
}

GYRE_PASSIVE(words)
{
    return state->count > 1 ? GYRE_STAYS : GYRE_LEAVES;
}
