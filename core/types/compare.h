/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two layouts of message types: whether they describe the same bytes, and which field is different. */
#ifndef GYRE_CORE_TYPES_COMPARE_H
#define GYRE_CORE_TYPES_COMPARE_H

#include "core/types/types.h"

/**
 * OK when both describe the same bytes: fields of equal names, types, offsets. The types' own names do not
 * matter. Else INCOMPATIBLE and a sentence with the first difference and both hashes. `a_owner` and `b_owner` name
 * the owners of the two layouts in the sentence ("the kernel", "the caller").
 */
gyre_status gyre_layout_compare(const gyre_layout *a, const char *a_owner, const gyre_layout *b,
                                const char *b_owner);

/**
 * Whether `longer` is `shorter` with fields appended. In types without tails the appended fields lie behind the shorter type's last
 * byte, so the common fields lie in the same places. In types with tails the longer type's tail is at least as large. In protocols
 * (GYRE_PROTOCOL) each type of `shorter` has its number and name in `longer`, and is the same or extended there. With tails and in
 * protocols gyre_layout_convert leads from one to the other.
 */
bool gyre_layout_extends(const gyre_layout *longer, const gyre_layout *shorter);

/** Writes "f32[25]" or "point[2][3]", cut to `size` bytes; returns `text`. */
char *gyre_field_type_text(const gyre_field *field, char *text, size_t size);

#endif
