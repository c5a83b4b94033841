/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that kernels ask each other, and the answers that they come to, also worked out without kernels. */
#ifndef GYRE_CONFORMANCE_ASKS_H
#define GYRE_CONFORMANCE_ASKS_H

#include <gyre/message.h>

#ifndef GYRE_HELPER /* in the test */
#define GYRE_HELPER static inline
#endif

/* A question and an answer: `sum` is the answer. `deep`: how many further questions its answer takes, one behind the other. */
#define RIDDLE(FIELD) FIELD(u64, seed) FIELD(u64, sum) FIELD(u32, deep) FIELD(u32, what)
GYRE_MESSAGE(riddle, RIDDLE)
enum { RIDDLE_FAILURE = 7 /* the code of failures */ };
/* `what` of a riddle for a hermit: he does not reply, or fails, or his answer is kept from the client. */
enum { RIDDLE_SILENT = 1, RIDDLE_FAILS = 2, RIDDLE_UNTOLD = 3 };

/* Who asks for texts takes these, too: a message and its answer are of different types and sizes. */
#define VERSE(FIELD) FIELD(u32, number) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(verse, VERSE, 200)

GYRE_HELPER u64 riddle_mix(u64 seed, u64 number)
{
    u64 mixed = (seed ^ (number + 1) * 0x9e3779b97f4a7c15ul) * 0xbf58476d1ce4e5b9ul;
    mixed ^= mixed >> 31;
    return mixed * 0x94d049bb133111ebul ^ mixed >> 29;
}

/* How many questions the answer takes; 0: none. */
GYRE_HELPER u32 riddle_count(u64 seed, u32 deep)
{
    return deep ? 1 + (u32)(riddle_mix(seed, 100) % 2) : 0;
}

/* Whether the handler fails. */
GYRE_HELPER int riddle_fails(u64 seed)
{
    return riddle_mix(seed, 200) % 40 == 0;
}

#endif
