/* SPDX-License-Identifier: Apache-2.0 */
/* Builds layouts of message types in an arena that several layouts share. layout.c has the code; types.h is the interface
 * for other folders. */
#ifndef GYRE_CORE_TYPES_BUILDER_H
#define GYRE_CORE_TYPES_BUILDER_H

#include "core/types/arena.h"
#include "core/types/types.h"

typedef struct gyre_layout_builder {
    gyre_arena *arena;
    uint64_t size_max;
    struct gyre_layout_node *nodes; /* layouts made so far: a type that is used twice has one layout */
} gyre_layout_builder;

/** Builds the layout of `type` in the builder's arena. `depth`: how many types enclose it. Fails as gyre_layout_create. */
gyre_status gyre_layout_build(gyre_layout_builder *builder, const gyre_type *type, unsigned depth,
                              gyre_layout **out);

#endif
