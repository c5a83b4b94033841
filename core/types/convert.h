/* SPDX-License-Identifier: Apache-2.0 */
/* Converts messages with tails between two versions of a type, one of which has fields appended. Messages without tails
 * need no conversion; values of earlier versions are in adopt.h. */
#ifndef GYRE_CORE_TYPES_CONVERT_H
#define GYRE_CORE_TYPES_CONVERT_H

#include "core/types/types.h"

/**
 * Converts a message with a tail from the type `from` to the type `to`; one of the two types extends the other
 * (gyre_layout_extends). Fields that only `from` has are left out; fields that only `to` has become zero. The caller has
 * checked the message. `out` has to->size bytes. INVALID when the tail does not fit, or when the message is of a type of
 * a protocol that `to` does not have.
 */
gyre_status gyre_layout_convert(const gyre_layout *from, const void *message, const gyre_layout *to,
                                void *out);

/**
 * Moves items between a message and a device's memory while the message is built anew. `carry` takes a part's items away and says
 * in *far where they are; false: the items stay in the message. `fetch` writes the items of a far part to `items`, where `is_ours`
 * says that the carrier has them; false: the items cannot be had, and the message gets a far part that has their size and names
 * no buffer. Either may be NULL.
 */
struct gyre_carrier {
    void *context;
    bool (*carry)(void *context, const void *items, uint64_t size, gyre_far *far);
    bool (*is_ours)(void *context, const gyre_far *far);
    bool (*fetch)(void *context, const gyre_far *far, void *items);
};

/** As gyre_layout_convert, with a carrier; `from` and `to` may be the same type. After a failure `out` is a valid message
 * with only some of the fields. */
gyre_status gyre_layout_carry(const gyre_layout *from, const void *message, const gyre_layout *to, void *out,
                              const struct gyre_carrier *carrier);

#endif
