/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the types of a protocol, for a queue whose kernel takes messages of several types. The kernel fills this in before
 * any request is sent. */
#ifndef GYRE_CORE_QUEUE_CHOICE_RULES_H
#define GYRE_CORE_QUEUE_CHOICE_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "gyre/message.h"

struct gyre_queue_choices {
    uint32_t request_type;  /* the type in a header whose sender named none */
    uint32_t count;         /* types of the protocol; 0: there is one type */
    const uint32_t *types;  /* each type's word in headers, by its number less 1; or NULL */
    const uint8_t *queries; /* for each type, 1: its handler changes no state; NULL: there is no such type */
};

/** Whether a message is a query: its type's handler changes no state. Reads the message's type once. */
static inline bool gyre_choice_is_query(const struct gyre_queue_choices *choices, const void *payload)
{
    uint32_t number;
    if (__builtin_expect(choices->queries == NULL, 1))
        return false;
    memcpy(&number, (const unsigned char *)payload + GYRE_CHOICE_FRONT - sizeof number, sizeof number);
    return number - 1 < choices->count && choices->queries[number - 1];
}

/** The number of the first type that is a query; 0: there is none. */
static inline uint32_t gyre_choice_any_query(const struct gyre_queue_choices *choices)
{
    for (uint32_t i = 0; choices->queries && i < choices->count; i++)
        if (choices->queries[i])
            return i + 1;
    return 0;
}

#endif
