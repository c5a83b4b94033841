/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a value of an earlier version of a type over into its later version, for example the state of a kernel whose source
 * changed. convert.h converts messages between two versions that are both in use. */
#ifndef GYRE_CORE_TYPES_ADOPT_H
#define GYRE_CORE_TYPES_ADOPT_H

#include "core/types/types.h"

/**
 * Whether values of `from` can be taken over as values of `to`, a later type of the same thing. Each field of `from` must be in
 * `to`, at any offset, with the same scalar and at least as long in each dimension; `to`, and types inside it, may have further
 * fields. In a type with a tail the further fields stand behind the others, and the tail is at least as large. In a protocol
 * (GYRE_PROTOCOL) each type keeps its number. INCOMPATIBLE with the first field that breaks a rule.
 */
gyre_status gyre_layout_check_adopt(const gyre_layout *from, const gyre_layout *to);
/**
 * Copies a value of `length` bytes into `out`, which has to->size bytes. gyre_layout_check_adopt must have said OK. In a
 * type without a tail, fields of `out` that `from` does not have keep the bytes that they had. *out_length: the length of
 * the new value as a message. INVALID when `value` is not a value of `from`.
 */
gyre_status gyre_layout_adopt(const gyre_layout *from, const void *value, uint64_t length,
                              const gyre_layout *to, void *out, uint64_t *out_length);

#endif
