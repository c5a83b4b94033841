/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the far parts of a message: parts (fields with items in the message's tail) whose items lie in a device buffer
 * instead. */
#ifndef GYRE_CORE_TYPES_FAR_H
#define GYRE_CORE_TYPES_FAR_H

#include "core/types/types.h"

/**
 * Calls `visit` for each part of a message whose items lie in a device buffer. `visit` may change the gyre_far, which
 * says where the items lie. For a message that gyre_layout_check_message refuses, it is never called.
 */
void gyre_layout_visit_far(const gyre_layout *layout, void *message, uint64_t length,
                           void (*visit)(void *context, gyre_far *far), void *context);

#endif
