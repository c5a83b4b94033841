/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a type that are taken over by a later type of the same thing. */
#ifndef GYRE_CORE_TYPES_ADOPT_H
#define GYRE_CORE_TYPES_ADOPT_H

#include "core/types/types.h"

/**
 * Whether values of `from` can be taken over as values of `to`, a later type of the same thing. Each field of `from` must be in `to`,
 * at any offset, with the same scalar and at least as long in each dimension; `to`, and types inside it, may have further fields. In a
 * type with a tail the further fields stand behind the others, and the tail is at least as large. In a protocol (GYRE_PROTOCOL) each
 * type keeps its number. INCOMPATIBLE with the first field that breaks a rule.
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
