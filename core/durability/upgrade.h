/* SPDX-License-Identifier: Apache-2.0 */
/* Converting the content of a journal to the types that its kernel has now. */
#ifndef GYRE_CORE_DURABILITY_UPGRADE_H
#define GYRE_CORE_DURABILITY_UPGRADE_H

#include "core/durability/durable.h"

/**
 * Applies `on_change` (change.h); `mine` describes the kernel of now. Then, if the journal's types are not durable->types,
 * converts the requests, the replies and the state of durable->content, field by field by name. INCOMPATIBLE, with what is
 * in the way and what to do, when something would be lost; EXHAUSTED.
 */
gyre_status gyre_upgrade_content(struct gyre_durable *durable, const struct gyre_record_open *mine);

/* upgrade_state.c */

/** Two layouts of a value: in the journal, and now. */
struct gyre_upgrade_step {
    gyre_layout *from, *to;
    bool same;
};

/** Needs gyre_upgrade_step_finish, even after a failure. */
gyre_status gyre_upgrade_step_begin(const gyre_type *from, const gyre_type *to,
                                    struct gyre_upgrade_step *step);
void gyre_upgrade_step_finish(struct gyre_upgrade_step *step);

/** *differ: whether the state or a buffer in the journal has another type, size or place than the kernel's. */
gyre_status gyre_upgrade_compare_state(const struct gyre_durable *durable, bool *differ);
/** Converts the journal's state to the kernel's, which has `size` bytes. */
gyre_status gyre_upgrade_state(struct gyre_durable *durable, uint64_t size);

#endif
