/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that floors and cases share: makes a request from its number, handles it, and checks the reply. Floors call
 * bench_handle themselves. Cases run the kernels in cli/bench/kernels/, which do the same work.
 *
 * Every function takes the kind as a constant, so that a loop is compiled for one kind and its sizes.
 */
#ifndef GYRE_CLI_BENCH_WORK_H
#define GYRE_CLI_BENCH_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cli/bench/kernels/add_messages.h"
#include "cli/bench/kernels/bench_messages.h"

#define BENCH_INLINE inline __attribute__((always_inline))

enum bench_kind {
    BENCH_48,
    BENCH_1024,
    BENCH_BLOCK_1024,
    BENCH_4096,
    BENCH_65536,
    BENCH_BLOCK_65536,
    BENCH_VECTOR_ADD,
    BENCH_CHAIN,
    BENCH_BLOCK_CHAIN,
    BENCH_PLAIN,       /* one addition, as a struct */
    BENCH_DOTNET,      /* the addition as a packet of 42 bytes; in place only, as slots hold packets */
    BENCH_BRIDGED_512, /* only case_bridged.c uses BENCH_BRIDGED_* */
    BENCH_BRIDGED_65536,
    BENCH_KEEP,    /* only case_checkpoint.c and case_journal.c use it */
    BENCH_KEEP_48, /* the words of BENCH_48, by an actor that must see each message once, in order, from 0 on */
    BENCH_LINKED_48, /* the words of BENCH_48, through BENCH_CHAIN_KERNELS kernels that are linked */
    BENCH_KEYED_48, /* six words, by a keyed actor: BENCH_KEYS keys in an order that looks random, each as often */
    BENCH_KEYED_HOT, /* the same, all for one key */
    BENCH_KEYED_RINGS /* the same, 2^18 keys of its own for each ring; the ring's number is above the message's */
};
enum { BENCH_CHAIN_KERNELS = 5, BENCH_KEYS_LOG2 = 20, BENCH_RING_KEYS_LOG2 = 18, BENCH_RING_BIT = 48 };
enum { BENCH_DOTNET_REQUEST = 42, BENCH_DOTNET_HEAD = 34, BENCH_DOTNET_REPLY = 38 };

static BENCH_INLINE size_t bench_request_size(enum bench_kind kind)
{
    switch (kind) {
    case BENCH_48:
    case BENCH_KEEP_48:
    case BENCH_LINKED_48:
    case BENCH_KEYED_48:
    case BENCH_KEYED_HOT:
    case BENCH_KEYED_RINGS:
        return sizeof(words_48);
    case BENCH_1024:
    case BENCH_BLOCK_1024: /* the same words, handled by all lanes of a block */
        return sizeof(words_1024);
    case BENCH_4096:
        return sizeof(words_4096);
    case BENCH_65536:
    case BENCH_BLOCK_65536:
        return sizeof(words_65536);
    case BENCH_CHAIN:
    case BENCH_BLOCK_CHAIN:
        return sizeof(chain_request);
    case BENCH_KEEP:
        return sizeof(keep_request);
    case BENCH_PLAIN:
        return sizeof(plain_add);
    case BENCH_DOTNET:
        return BENCH_DOTNET_REQUEST;
    default:
        return sizeof(add_request);
    }
}

static BENCH_INLINE size_t bench_reply_size(enum bench_kind kind)
{
    return kind == BENCH_VECTOR_ADD                           ? sizeof(add_reply)
           : kind == BENCH_CHAIN || kind == BENCH_BLOCK_CHAIN ? sizeof(chain_reply)
           : kind == BENCH_PLAIN                              ? sizeof(plain_sum)
           : kind == BENCH_DOTNET                             ? BENCH_DOTNET_REPLY
                                                              : bench_request_size(kind);
}

/* One turn of the chain is x -> x * FACTOR + STEP. BENCH_CHAIN_TURNS turns together are x -> x * POWER + SUM. */
#define BENCH_CHAIN_FACTOR UINT64_C(6364136223846793005)
#define BENCH_CHAIN_STEP   UINT64_C(1442695040888963407)
#define BENCH_CHAIN_POWER  UINT64_C(5235669344649507833)
#define BENCH_CHAIN_SUM    UINT64_C(16868250240706126054)

/* Any odd number with many bits: neighbouring words and messages differ everywhere. */
#define BENCH_STEP UINT64_C(0x9e3779b97f4a7c15)

/* Writes the members that an addition and its sum share: ids, priority, and whether a correlation is present. */
static BENCH_INLINE void bench_fill_head(unsigned char head[BENCH_DOTNET_HEAD], uint64_t number)
{
    const uint64_t words[4] = {number, number * BENCH_STEP, ~number, number ^ BENCH_STEP};
    memcpy(head, words, 16);
    head[16] = (unsigned char)number;
    head[17] = 1;
    memcpy(head + 18, words + 2, 16);
}

static BENCH_INLINE float bench_summand(uint64_t number)
{
    return (float)(number & 0xfffff) * 0.25f;
}

static BENCH_INLINE void bench_fill_add(enum bench_kind kind, unsigned char *request, uint64_t number)
{
    const uint32_t used = BENCH_DOTNET_REQUEST + GYRE_PACKET_FRONT;
    const float a = bench_summand(number), b = 2.5f;
    size_t at = BENCH_DOTNET_HEAD;
    if (kind == BENCH_PLAIN)
        at = offsetof(plain_add, a);
    else
        memcpy(request, &used, sizeof used);
    request += kind == BENCH_DOTNET ? GYRE_PACKET_FRONT : 0;
    bench_fill_head(request, number);
    memcpy(request + at, &a, sizeof a);
    memcpy(request + at + sizeof a, &b, sizeof b);
}

static BENCH_INLINE uint64_t bench_word_at(const unsigned char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static BENCH_INLINE bool bench_right_sum(enum bench_kind kind, const unsigned char *reply, uint64_t number)
{
    const float sum = bench_summand(number) + 2.5f; /* exact in a float */
    const unsigned char *at = reply + (kind == BENCH_PLAIN ? offsetof(plain_sum, result) : BENCH_DOTNET_HEAD);
    float found;
    memcpy(&found, at, sizeof found);
    uint64_t wrong = (bench_word_at(reply) ^ number) | (bench_word_at(reply + 8) ^ (number * BENCH_STEP));
    wrong |= (bench_word_at(reply + 18) ^ ~number) | (bench_word_at(reply + 26) ^ (number ^ BENCH_STEP));
    wrong |= (uint64_t)(reply[16] ^ (unsigned char)number) | (uint64_t)(reply[17] ^ 1);
    return wrong == 0 && found == sum;
}

/* Four floats at a time, so that the client's own work on a message takes little of the measured time. */
typedef float bench_floats __attribute__((vector_size(16)));
typedef int32_t bench_masks __attribute__((vector_size(16)));
static const float bench_steps[25] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                      13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
static const float bench_halves[25] = {0, 0.5F, 1, 1.5F, 2, 2.5F, 3,  3.5F,  4,  4.5F,  5, 5.5F, 6, 6.5F,
                                       7, 7.5F, 8, 8.5F, 9, 9.5F, 10, 10.5F, 11, 11.5F, 12};

static BENCH_INLINE bench_floats bench_floats_at(const float *from)
{
    bench_floats four;
    memcpy(&four, from, sizeof four);
    return four;
}

static BENCH_INLINE void bench_fill_vectors(add_request *add, uint64_t number)
{
    const float base = (float)(int32_t)(number & 0xffff);
    for (int i = 0; i < 24; i += 4) {
        const bench_floats four = bench_floats_at(bench_steps + i) + base;
        memcpy(add->a + i, &four, sizeof four);
    }
    add->a[24] = base + 24;
    memcpy(add->b, bench_halves, sizeof add->b);
}

/* True when all sums are right. They are exact in a float. */
static BENCH_INLINE bool bench_right_vectors(const add_reply *sums, uint64_t number)
{
    const float base = (float)(int32_t)(number & 0xffff);
    bench_masks wrong = {0};
    for (int i = 0; i < 24; i += 4)
        wrong |= bench_floats_at(sums->sum + i) !=
                 (bench_floats_at(bench_steps + i) + base) + bench_floats_at(bench_halves + i);
    wrong[0] |= sums->sum[24] != (base + 24) + 12;
    return (wrong[0] | wrong[1] | wrong[2] | wrong[3]) == 0;
}

/* The key of a message. Of 2^20 messages that follow each other each has another key: the factor is odd. */
static BENCH_INLINE uint64_t bench_key(enum bench_kind kind, uint64_t number)
{
    const uint64_t ring = number >> BENCH_RING_BIT << BENCH_RING_KEYS_LOG2;
    if (kind == BENCH_KEYED_RINGS)
        return ring | (number * BENCH_STEP & ((UINT64_C(1) << BENCH_RING_KEYS_LOG2) - 1));
    return kind == BENCH_KEYED_HOT ? 7 : number * BENCH_STEP & ((UINT64_C(1) << BENCH_KEYS_LOG2) - 1);
}

/* How many messages of its key came, with this one. */
static BENCH_INLINE uint64_t bench_turn(enum bench_kind kind, uint64_t number)
{
    if (kind == BENCH_KEYED_RINGS)
        return ((number & ((UINT64_C(1) << BENCH_RING_BIT) - 1)) >> BENCH_RING_KEYS_LOG2) + 1;
    return (kind == BENCH_KEYED_HOT ? number : number >> BENCH_KEYS_LOG2) + 1;
}

static BENCH_INLINE bool bench_is_keyed(enum bench_kind kind)
{
    return kind == BENCH_KEYED_48 || kind == BENCH_KEYED_HOT || kind == BENCH_KEYED_RINGS;
}

static BENCH_INLINE void bench_fill_keyed(enum bench_kind kind, uint64_t *words, uint64_t number)
{
    words[0] = bench_key(kind, number);
    for (size_t i = 1; i < 6; i++)
        words[i] = number + i * BENCH_STEP;
}

static BENCH_INLINE bool bench_right_keyed(enum bench_kind kind, const uint64_t *words, uint64_t number)
{
    uint64_t wrong = (words[0] ^ bench_key(kind, number)) | (words[1] ^ bench_turn(kind, number));
    for (size_t i = 2; i < 6; i++)
        wrong |= words[i] ^ ((number + i * BENCH_STEP) * 3 + i);
    return wrong == 0;
}

static BENCH_INLINE void bench_fill(enum bench_kind kind, void *request, uint64_t number)
{
    if (bench_is_keyed(kind)) {
        bench_fill_keyed(kind, request, number);
        return;
    }
    if (kind == BENCH_PLAIN || kind == BENCH_DOTNET) {
        bench_fill_add(kind, request, number);
        return;
    }
    if (kind == BENCH_VECTOR_ADD) {
        bench_fill_vectors(request, number);
        return;
    }
    if (kind == BENCH_CHAIN) {
        *(chain_request *)request =
            (chain_request){number, BENCH_CHAIN_FACTOR, BENCH_CHAIN_STEP, BENCH_CHAIN_TURNS};
        return;
    }
    uint64_t *words = request, word = number;
    for (size_t i = 0; i < bench_request_size(kind) / sizeof *words; i++, word += BENCH_STEP)
        words[i] = word;
}

static BENCH_INLINE void bench_handle(enum bench_kind kind, const void *request, void *reply)
{
    if (kind == BENCH_VECTOR_ADD) {
        const add_request *add = request;
        add_reply *sums = reply;
        for (int i = 0; i < 25; i++)
            sums->sum[i] = add->a[i] + add->b[i];
        return;
    }
    if (kind == BENCH_CHAIN) {
        const chain_request *chain = request;
        uint64_t x = chain->x;
        for (uint64_t turn = 0; turn < chain->turns; turn++)
            x = x * chain->factor + chain->step;
        ((chain_reply *)reply)->x = x;
        return;
    }
    const uint64_t *restrict from = request;
    uint64_t *restrict to = reply;
    for (size_t i = 0; i < bench_request_size(kind) / sizeof *to; i++)
        to[i] = from[i] * 3 + i;
}

/** True when every byte of the reply is what the request of that number must give. */
static BENCH_INLINE bool bench_right(enum bench_kind kind, const void *reply, uint64_t number)
{
    if (kind == BENCH_PLAIN || kind == BENCH_DOTNET)
        return bench_right_sum(kind, reply, number);
    if (bench_is_keyed(kind))
        return bench_right_keyed(kind, reply, number);
    if (kind == BENCH_VECTOR_ADD)
        return bench_right_vectors(reply, number);
    if (kind == BENCH_CHAIN)
        return ((const chain_reply *)reply)->x == number * BENCH_CHAIN_POWER + BENCH_CHAIN_SUM;
    const uint64_t *words = reply;
    uint64_t wrong = 0, right = number * 3; /* (number + i * BENCH_STEP) * 3 + i, by adding up */
    for (size_t i = 0; i < bench_request_size(kind) / sizeof *words; i++, right += BENCH_STEP * 3 + 1)
        wrong |= words[i] ^ right;
    return wrong == 0;
}

/** Evaluates `call` with the constant KIND equal to the variable `kind`. */
#define BENCH_FOR_KIND(kind, call)                                                                           \
    switch (kind) {                                                                                          \
    case BENCH_LINKED_48:                                                                                    \
    case BENCH_KEEP_48:                                                                                      \
    case BENCH_48: {                                                                                         \
        const enum bench_kind KIND = BENCH_48;                                                               \
        call;                                                                                                \
        break;                                                                                               \
    }                                                                                                        \
    case BENCH_BLOCK_1024:                                                                                   \
    case BENCH_1024: {                                                                                       \
        const enum bench_kind KIND = BENCH_1024;                                                             \
        call;                                                                                                \
        break;                                                                                               \
    }                                                                                                        \
    case BENCH_4096: {                                                                                       \
        const enum bench_kind KIND = BENCH_4096;                                                             \
        call;                                                                                                \
        break;                                                                                               \
    }                                                                                                        \
    case BENCH_BLOCK_65536:                                                                                  \
    case BENCH_65536: {                                                                                      \
        const enum bench_kind KIND = BENCH_65536;                                                            \
        call;                                                                                                \
        break;                                                                                               \
    }                                                                                                        \
    case BENCH_BLOCK_CHAIN:                                                                                  \
    case BENCH_CHAIN: {                                                                                      \
        const enum bench_kind KIND = BENCH_CHAIN;                                                            \
        call;                                                                                                \
        break;                                                                                               \
    }                                                                                                        \
    case BENCH_KEYED_48: {                                                                                   \
        const enum bench_kind KIND = BENCH_KEYED_48;                                                         \
        call;                                                                                                \
        break;                                                                                               \
    }                                                                                                        \
    case BENCH_KEYED_HOT: {                                                                                  \
        const enum bench_kind KIND = BENCH_KEYED_HOT;                                                        \
        call;                                                                                                \
        break;                                                                                               \
    }                                                                                                        \
    case BENCH_KEYED_RINGS: {                                                                                \
        const enum bench_kind KIND = BENCH_KEYED_RINGS;                                                      \
        call;                                                                                                \
        break;                                                                                               \
    }                                                                                                        \
    case BENCH_PLAIN: {                                                                                      \
        const enum bench_kind KIND = BENCH_PLAIN;                                                            \
        call;                                                                                                \
        break;                                                                                               \
    }                                                                                                        \
    case BENCH_DOTNET: {                                                                                     \
        const enum bench_kind KIND = BENCH_DOTNET;                                                           \
        call;                                                                                                \
        break;                                                                                               \
    }                                                                                                        \
    default: {                                                                                               \
        const enum bench_kind KIND = BENCH_VECTOR_ADD;                                                       \
        call;                                                                                                \
        break;                                                                                               \
    }                                                                                                        \
    }

#endif
