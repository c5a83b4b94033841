/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of any type with random contents, from their layouts: padding is zero, parts stand in the order of
 * the fields, the items of a part before the parts of its items. For tests.
 */
#ifndef GYRE_RANDOM_MESSAGE_H
#define GYRE_RANDOM_MESSAGE_H

#include "core/types/types.h"

/** xorshift64*; `state` is never 0. */
uint64_t random_next(uint64_t *state);

/** Fills layout->size bytes, aligned to 8, with a message; returns its length. */
uint64_t random_message(const gyre_layout *layout, uint64_t *state, void *message);

#endif
