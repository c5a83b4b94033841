/* SPDX-License-Identifier: Apache-2.0 */
/* What a journal says, brought to the types that its kernel has now. */
#ifndef GYRE_CORE_RUNTIME_UPGRADE_H
#define GYRE_CORE_RUNTIME_UPGRADE_H

#include "core/runtime/durable.h"

/**
 * `mine` says what the kernel is now. As `on_change` says of another handler (change.h); then
 * takes over requests, replies and the state of durable->content, field by field by their names, where the types that
 * the journal was written with are not durable->types. INCOMPATIBLE, with what is in the way and what to do, when
 * something would get lost; EXHAUSTED.
 */
gyre_status gyre_upgrade_content(struct gyre_durable *durable, const struct gyre_record_open *mine);

#endif
