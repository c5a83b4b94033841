/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of kernels that send to kernels, and what the nodes of random graphs do: one text for the handlers and for the test,
 * which works out beforehand how each flow has to end.
 */
#ifndef GYRE_CONFORMANCE_LINKS_H
#define GYRE_CONFORMANCE_LINKS_H

#include <gyre/message.h>

#ifndef GYRE_HELPER /* in the test */
#define GYRE_HELPER static inline
#endif

#define JOB(FIELD) FIELD(u64, number) FIELD(u64, sum) FIELD(u32, hops) FIELD(u32, what)
GYRE_MESSAGE(job, JOB)
enum { JOB_PASS = 0, JOB_FAIL = 1, JOB_DROP = 2, JOB_SPIN = 3, JOB_SLOW = 4 };

/* `count` words to emit; the handler fails behind that many; the word of that number is answered. */
#define BURST(FIELD) FIELD(u32, count) FIELD(u32, fails) FIELD(u32, answered) FIELD(u32, first)
GYRE_MESSAGE(burst, BURST)
#define WORD(FIELD) FIELD(u32, number) FIELD(u32, answered)
GYRE_MESSAGE(word, WORD)
#define SEEN(FIELD) FIELD(u64, count)
GYRE_MESSAGE(seen, SEEN)
enum { BURST_MOST = 64, WORD_FAILS = 1000000 };

#define BLOB(FIELD) FIELD(u64, number) FIELD(u64, w[8000])
GYRE_MESSAGE(blob, BLOB)

#define NOTE(FIELD) FIELD(u64, number) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(note, NOTE, 96)

/* A message of a random graph: its seed says what every node does with it. */
#define TOKEN(FIELD) FIELD(u64, seed) FIELD(u32, depth) FIELD(u32, reserved)
GYRE_MESSAGE(token, TOKEN)
enum { TOKEN_MOST = 3, TOKEN_DEPTH = 6, TOKEN_FAILURE = 7 };

/* What a node does with a token: the same numbers on the host and in a handler. */
GYRE_HELPER u64 token_mix(u64 a, u64 b)
{
    u64 mixed = (a ^ (b + 0x9e3779b97f4a7c15ul)) * 0xbf58476d1ce4e5b9ul;
    mixed ^= mixed >> 29;
    mixed *= 0x94d049bb133111ebul;
    return mixed ^ mixed >> 32;
}

/* How many tokens go to a port (0 or 1): few, and none from a certain depth on. */
GYRE_HELPER u32 token_count(u64 seed, u32 node, u32 port, u32 depth)
{
    return depth >= TOKEN_DEPTH ? 0
                                : (u32)(token_mix(seed, node * 16 + port) % (TOKEN_MOST + 1)) * (depth < 4);
}

GYRE_HELPER u64 token_seed(u64 seed, u32 node, u32 port, u32 number)
{
    return token_mix(seed, node * 4096 + port * 256 + number + 1);
}

GYRE_HELPER int token_fails(u64 seed, u32 node)
{
    return token_mix(seed, node * 16 + 9) % 97 == 0;
}

GYRE_HELPER int token_replies(u64 seed, u32 node)
{
    return token_mix(seed, node * 16 + 10) % 11 == 0;
}

#endif
