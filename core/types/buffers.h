/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the list of buffers that a kernel declares: names, directions and element types. Buffers themselves are in
 * core/device. */
#ifndef GYRE_CORE_TYPES_BUFFERS_H
#define GYRE_CORE_TYPES_BUFFERS_H

#include "core/types/types.h"

/** One buffer that a kernel declares. */
typedef struct gyre_buffer_slot {
    const char *name;
    bool writable;           /* declared INOUT */
    const gyre_layout *type; /* the layout of one element */
} gyre_buffer_slot;

typedef struct gyre_buffer_list {
    uint32_t count;
    const gyre_buffer_slot *slots; /* in binding order */
    struct gyre_arena *arena;
} gyre_buffer_list;

/**
 * Reads the declaration of a kernel's buffers, for example "in f32 weights;inout f32 ranks;", and their element types
 * `types` (see gyre_kernel_record). Fails as gyre_layout_create. The caller calls gyre_buffer_list_finish, also after a
 * failure.
 */
gyre_status gyre_buffer_list_init(gyre_buffer_list *list, const char *text, const gyre_type *const *types);
void gyre_buffer_list_finish(gyre_buffer_list *list);

#endif
