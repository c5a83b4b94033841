/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a type that are taken over by a later type of the same thing. */
#ifndef GYRE_CORE_TYPES_ADOPT_H
#define GYRE_CORE_TYPES_ADOPT_H

#include "core/types/types.h"

/**
 * Whether values of `from` can be taken over as values of `to`, a later type of the same thing: each field is there
 * again, wherever it lies, of the same scalar and at least as long in each dimension; fields may have been added, also in
 * types inside it. With tails what was added is behind the rest, and the tail is as large; of several types
 * (GYRE_PROTOCOL) each has its number still. INCOMPATIBLE with the first field that is not so.
 */
gyre_status gyre_layout_check_adopt(const gyre_layout *from, const gyre_layout *to);
/**
 * Takes over a value of `length` bytes, once gyre_layout_check_adopt said that it can be. `out` has to->size bytes; of
 * a type without a tail, what `from` does not have stays as it is there. *out_length: bytes of the value, as a
 * message. INVALID when the value is none.
 */
gyre_status gyre_layout_adopt(const gyre_layout *from, const void *value, uint64_t length,
                              const gyre_layout *to, void *out, uint64_t *out_length);

#endif
