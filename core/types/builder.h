/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts under construction, several in one arena. */
#ifndef GYRE_CORE_TYPES_BUILDER_H
#define GYRE_CORE_TYPES_BUILDER_H

#include "core/types/arena.h"
#include "core/types/types.h"

typedef struct gyre_layout_builder {
    gyre_arena *arena;
    uint64_t size_max;
    struct gyre_layout_node *nodes; /* those made so far: a type used twice has one layout */
} gyre_layout_builder;

/** The layout of `type`, in the builder's arena. `depth`: how many types it is inside of. Fails as gyre_layout_create. */
gyre_status gyre_layout_build(gyre_layout_builder *builder, const gyre_type *type, unsigned depth,
                              gyre_layout **out);

#endif
