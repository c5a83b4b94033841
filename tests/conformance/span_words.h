/* SPDX-License-Identifier: Apache-2.0 */
/* The words that the cases of spans send: each tells its place, and sums of them what was read. */
#ifndef GYRE_CONFORMANCE_SPAN_WORDS_H
#define GYRE_CONFORMANCE_SPAN_WORDS_H

#include <stdint.h>

static inline uint64_t word(uint64_t i)
{
    return (i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

static inline uint64_t sum_of(uint64_t first, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = first; i < first + count; i++)
        sum += word(i);
    return sum;
}

#endif
