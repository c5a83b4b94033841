/* SPDX-License-Identifier: Apache-2.0 */
/* The text, the hash and the own gyre_type of a finished layout. */
#ifndef GYRE_CORE_TYPES_DESCRIBE_H
#define GYRE_CORE_TYPES_DESCRIBE_H

#include "core/types/arena.h"
#include "core/types/types.h"

/** Writes text and hash of a layout that has all else. */
gyre_status gyre_layout_describe(gyre_arena *arena, gyre_layout *layout);
/** The deep copy that the layout hands out; nested types are those of the nested layouts. */
gyre_status gyre_layout_copy_type(gyre_arena *arena, const gyre_type *source, gyre_layout *layout);

#endif
