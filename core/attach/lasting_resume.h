/* SPDX-License-Identifier: Apache-2.0 */
/* A lasting client (lasting.h) goes from one server to the next. */
#ifndef GYRE_CORE_ATTACH_LASTING_RESUME_H
#define GYRE_CORE_ATTACH_LASTING_RESUME_H

#include "core/attach/lasting.h"

/** Detaches from the server that is gone. Call after its last completions were carried. */
void gyre_lasting_leave(struct gyre_lasting *lasting);

/**
 * Goes on at a new server (`back`): finds out which requests this server knows, and marks the requests that must be
 * sent again. INCOMPATIBLE when the server's queue is configured in another way.
 */
gyre_status gyre_lasting_resume(struct gyre_lasting *lasting);

#endif
