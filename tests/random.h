/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers by chance for tests that choose what they do: the same ones for the same seed, on every machine. */
#ifndef GYRE_TESTS_RANDOM_H
#define GYRE_TESTS_RANDOM_H

#include <stdint.h>

/** The state that a seed begins with; never 0. */
static inline uint64_t random_begin(uint64_t seed)
{
    return seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

/** A number from 0 to `below` - 1 (xorshift64*). */
static inline uint64_t random_below(uint64_t *state, uint64_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * UINT64_C(0x2545f4914f6cdd1d) >> 32) % below;
}

#endif
