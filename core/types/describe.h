/* SPDX-License-Identifier: Apache-2.0 */
/* Completes a layout whose fields are known: its canonical text, its hash and its own copy of the gyre_type. Called by
 * layout.c. */
#ifndef GYRE_CORE_TYPES_DESCRIBE_H
#define GYRE_CORE_TYPES_DESCRIBE_H

#include "core/types/arena.h"
#include "core/types/types.h"

/** Sets layout->text and layout->hash; all other members are set already. EXHAUSTED without memory. */
gyre_status gyre_layout_describe(gyre_arena *arena, gyre_layout *layout);
/** Sets layout->type to a deep copy of `source`. The copy shares the copies of its nested types with their layouts. */
gyre_status gyre_layout_copy_type(gyre_arena *arena, const gyre_type *source, gyre_layout *layout);

#endif
