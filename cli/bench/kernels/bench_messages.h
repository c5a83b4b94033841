/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the benchmark's kernels, for the kernels and for `gyre bench`. */
#ifndef GYRE_BENCH_MESSAGES_H
#define GYRE_BENCH_MESSAGES_H

#include <gyre/message.h>

#define BENCH_WORDS_48(FIELD)    FIELD(u64, word[6])
#define BENCH_WORDS_1024(FIELD)  FIELD(u64, word[128])
#define BENCH_WORDS_4096(FIELD)  FIELD(u64, word[512])
#define BENCH_WORDS_65536(FIELD) FIELD(u64, word[8192])
GYRE_MESSAGE(words_48, BENCH_WORDS_48)
GYRE_MESSAGE(words_1024, BENCH_WORDS_1024)
GYRE_MESSAGE(words_4096, BENCH_WORDS_4096)
GYRE_MESSAGE(words_65536, BENCH_WORDS_65536)

/* Messages of varying length, and a fixed message of their mean length. */
#define BENCH_BRIDGED(FIELD)   FIELD(span_u64, words)
#define BENCH_WORDS_288(FIELD) FIELD(u64, word[36])
GYRE_MESSAGE_TAIL(bridged_512, BENCH_BRIDGED, 496)
GYRE_MESSAGE_TAIL(bridged_65536, BENCH_BRIDGED, 65520)
GYRE_MESSAGE(words_288, BENCH_WORDS_288)

/* The fault that a request asks its handler for. */
#define BENCH_FAULT_NONE           0
#define BENCH_FAULT_ADDRESS        1
#define BENCH_FAULT_LOOP           2
#define BENCH_FAULT_REQUEST(FIELD) FIELD(u32, what) FIELD(u64, far) FIELD(u64, number)
#define BENCH_FAULT_REPLY(FIELD)   FIELD(u64, number)
GYRE_MESSAGE(fault_request, BENCH_FAULT_REQUEST)
GYRE_MESSAGE(fault_reply, BENCH_FAULT_REPLY)

/* Asks a handler to add `value` to a cell of its state. The reply is the new value of the cell. */
#define BENCH_KEEP_REQUEST(FIELD) FIELD(u64, cell) FIELD(u64, value)
#define BENCH_KEEP_REPLY(FIELD)   FIELD(u64, value)
#define BENCH_KEEP_STATE(FIELD)   FIELD(u64, value)
GYRE_MESSAGE(keep_request, BENCH_KEEP_REQUEST)
GYRE_MESSAGE(keep_reply, BENCH_KEEP_REPLY)
GYRE_MESSAGE(keep_state, BENCH_KEEP_STATE)

/* What a keyed actor keeps for each key: with the key and the table's own words 64 bytes. */
#define BENCH_KEYED_STATE(FIELD) FIELD(u64, count) FIELD(u64, last[4])
GYRE_MESSAGE(keyed_state, BENCH_KEYED_STATE)
#define BENCH_KEYED_WORDS(FIELD) FIELD(u64, key) FIELD(u64, word[5])
GYRE_MESSAGE(keyed_words, BENCH_KEYED_WORDS)

/* A request whose kernel sends BENCH_ORDER_MANY messages to a keyed actor, from number `first` on, each for one of BENCH_ORDER_KEYS keys. */
#define BENCH_ORDER_MANY         256
#define BENCH_ORDER_KEYS         (1u << 20)
#define BENCH_ORDER_KEY(number)  ((number)*0x9e3779b97f4a7c15u & (BENCH_ORDER_KEYS - 1))
#define BENCH_KEYED_ORDER(FIELD) FIELD(u64, first)
GYRE_MESSAGE(keyed_order, BENCH_KEYED_ORDER)

/* Arithmetic that no compiler can shorten: each turn needs the result of the turn
 * before, and its numbers come with the message. */
#define BENCH_CHAIN_TURNS          102
#define BENCH_CHAIN_REQUEST(FIELD) FIELD(u64, x) FIELD(u64, factor) FIELD(u64, step) FIELD(u64, turns)
#define BENCH_CHAIN_REPLY(FIELD)   FIELD(u64, x)
GYRE_MESSAGE(chain_request, BENCH_CHAIN_REQUEST)
GYRE_MESSAGE(chain_reply, BENCH_CHAIN_REPLY)

/*
 * Tasks of a pool, each of so many turns of that arithmetic, and what they come to: 1 % of them, as if at random, take a hundred times as
 * long as the others. `turns`, `power` and `sum` are those of a short task and of a long one.
 */
#define BENCH_STEAL_IS_LONG(number) ((((number)*0x9e3779b97f4a7c15u) >> 40) % 100 == 0)
#define BENCH_STEAL_ORDER(FIELD)                                                                             \
    FIELD(u64, first)                                                                                        \
    FIELD(u64, count)                                                                                        \
    FIELD(u64, factor) FIELD(u64, step) FIELD(u64, turns[2]) FIELD(u64, power[2]) FIELD(u64, sum[2])
#define BENCH_STEAL_TASK(FIELD)                                                                              \
    FIELD(u64, x) FIELD(u64, factor) FIELD(u64, step) FIELD(u64, turns) FIELD(u64, right)
GYRE_MESSAGE(steal_order, BENCH_STEAL_ORDER)
GYRE_MESSAGE(steal_task, BENCH_STEAL_TASK)

#define BENCH_ADD_REQUEST(FIELD) FIELD(f32, a[25]) FIELD(f32, b[25])
#define BENCH_ADD_REPLY(FIELD)   FIELD(f32, sum[25])
GYRE_MESSAGE(add_request, BENCH_ADD_REQUEST)
GYRE_MESSAGE(add_reply, BENCH_ADD_REPLY)

#endif
