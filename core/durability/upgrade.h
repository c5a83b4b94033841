/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the content of a journal to the present types of its kernel. */
#ifndef GYRE_CORE_DURABILITY_UPGRADE_H
#define GYRE_CORE_DURABILITY_UPGRADE_H

#include "core/durability/durable.h"

/**
 * Applies `on_change` (change.h); `mine` describes the present kernel. Then, if the journal's types are not durable->types,
 * converts the requests, the replies and the state in durable->content, field by field by name. INCOMPATIBLE, with the reason
 * and what to do, when something would be lost; EXHAUSTED.
 */
gyre_status gyre_upgrade_content(struct gyre_durable *durable, const struct gyre_record_open *mine);

/* upgrade_state.c */

/** The two layouts of a value that is converted: in the journal, and in the present kernel. */
struct gyre_upgrade_step {
    gyre_layout *from, *to;
    bool same;
};

/** Makes both layouts. Call gyre_upgrade_step_finish afterwards, even after a failure. */
gyre_status gyre_upgrade_step_begin(const gyre_type *from, const gyre_type *to,
                                    struct gyre_upgrade_step *step);
void gyre_upgrade_step_finish(struct gyre_upgrade_step *step);

/** Sets *differ to whether the state or a buffer in the journal has another type, size or place than in the kernel. */
gyre_status gyre_upgrade_compare_state(const struct gyre_durable *durable, bool *differ);
/** Converts the state in the journal to the kernel's present types; it has `size` bytes then. */
gyre_status gyre_upgrade_state(struct gyre_durable *durable, uint64_t size);

#endif
