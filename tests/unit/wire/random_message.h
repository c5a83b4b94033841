/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of random contents, of any type, from its layout alone. */
#ifndef GYRE_TESTS_WIRE_RANDOM_MESSAGE_H
#define GYRE_TESTS_WIRE_RANDOM_MESSAGE_H

#include "core/types/types.h"

typedef struct random_source {
    uint64_t state; /* not 0 */
} random_source;

uint64_t random_below(random_source *source, uint64_t limit);

/**
 * Fills `message` (layout->size bytes). Padding is zero, texts are UTF-8, and values of optional fields are
 * not all zero, since that is what `nullable=bare` takes for none.
 */
void random_message(random_source *source, const gyre_layout *layout, void *message);

#endif
