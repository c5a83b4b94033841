/* SPDX-License-Identifier: Apache-2.0 */
/* The types of a protocol, for a queue whose kernel takes several types. The kernel fills this in before anything is
 * sent. */
#ifndef GYRE_CORE_QUEUE_CHOICES_H
#define GYRE_CORE_QUEUE_CHOICES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "gyre/message.h"

struct gyre_queue_choices {
    uint32_t request_type;  /* the type in a header whose sender named none */
    uint32_t count;         /* types of the protocol; 0: there is one type */
    const uint32_t *types;  /* each type's word in headers, by its number less 1; or NULL */
    const uint8_t *queries; /* 1: that handler changes nothing that is kept; NULL: no such type */
};

/** Whether a message of a protocol is of a type whose handler changes nothing. Reads the message once. */
static inline bool gyre_choice_is_query(const struct gyre_queue_choices *choices, const void *payload)
{
    uint32_t number;
    if (__builtin_expect(choices->queries == NULL, 1))
        return false;
    memcpy(&number, (const unsigned char *)payload + GYRE_CHOICE_FRONT - sizeof number, sizeof number);
    return number - 1 < choices->count && choices->queries[number - 1];
}

/** The number of a type whose handler changes nothing; 0: there is none. */
static inline uint32_t gyre_choice_any_query(const struct gyre_queue_choices *choices)
{
    for (uint32_t i = 0; choices->queries && i < choices->count; i++)
        if (choices->queries[i])
            return i + 1;
    return 0;
}

#endif
