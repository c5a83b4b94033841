/* SPDX-License-Identifier: Apache-2.0 */
/* A message of one type as a message of another, of which one extends the other. */
#ifndef GYRE_CORE_TYPES_CONVERT_H
#define GYRE_CORE_TYPES_CONVERT_H

#include "core/types/types.h"

/**
 * Writes a message with a tail, which was checked, as one of another type, of which one extends the other:
 * fields that only `from` has are left out, those that only `to` has are zero. `out` has to->size bytes.
 * INVALID when the tail does not fit, and for a message of a type that `to` does not have.
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

/** gyre_layout_convert with a carrier; `from` and `to` may be the same. After a failure `out` is a message
 * with a part of what was to be there. */
gyre_status gyre_layout_carry(const gyre_layout *from, const void *message, const gyre_layout *to, void *out,
                              const struct gyre_carrier *carrier);

#endif
