/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a message whose items lie in device buffers. */
#ifndef GYRE_CORE_TYPES_FAR_H
#define GYRE_CORE_TYPES_FAR_H

#include "core/types/types.h"

/**
 * Calls `visit` for each part of a message whose items lie in a device buffer, which may change what it is
 * given. A message that gyre_layout_check_message refuses has none.
 */
void gyre_layout_visit_far(const gyre_layout *layout, void *message, uint64_t length,
                           void (*visit)(void *context, gyre_far *far), void *context);

#endif
