/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the content of a journal to the present types of its kernel. */
#ifndef GYRE_CORE_DURABILITY_UPGRADE_H
#define GYRE_CORE_DURABILITY_UPGRADE_H

#include "core/durability/durable.h"
#include "core/durability/state_adopt.h"

/**
 * Applies `on_change` (change.h); `mine` describes the present kernel. Then, if the journal's types are not durable->types,
 * converts the requests, the replies and the state in durable->content, field by field by name. INCOMPATIBLE, with the reason
 * and what to do, when something would be lost; EXHAUSTED.
 */
gyre_status gyre_upgrade_content(struct gyre_durable *durable, const struct gyre_record_open *mine);

/* upgrade_state.c */

/** Sets *differ to whether the state or a buffer in the journal has another type, size or place than in the kernel. */
gyre_status gyre_upgrade_compare_state(const struct gyre_durable *durable, bool *differ);
/** Converts the state in the journal to the kernel's present types; it has `size` bytes then. */
gyre_status gyre_upgrade_state(struct gyre_durable *durable, uint64_t size);

#endif
