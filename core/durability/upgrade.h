/* SPDX-License-Identifier: Apache-2.0 */
/* What a journal says, brought to the types that its kernel has now. */
#ifndef GYRE_CORE_DURABILITY_UPGRADE_H
#define GYRE_CORE_DURABILITY_UPGRADE_H

#include "core/durability/durable.h"

/**
 * `mine` says what the kernel is now. As `on_change` says of another handler (change.h); then
 * takes over requests, replies and the state of durable->content, field by field by their names, where the types that
 * the journal was written with are not durable->types. INCOMPATIBLE, with what is in the way and what to do, when
 * something would get lost; EXHAUSTED.
 */
gyre_status gyre_upgrade_content(struct gyre_durable *durable, const struct gyre_record_open *mine);

/* upgrade_state.c */

/** Two layouts of a value: as it was, and as it is. */
struct gyre_upgrade_step {
    gyre_layout *from, *to;
    bool same;
};

/** Finish with gyre_upgrade_step_finish, which accepts what a failure leaves. */
gyre_status gyre_upgrade_step_begin(const gyre_type *from, const gyre_type *to,
                                    struct gyre_upgrade_step *step);
void gyre_upgrade_step_finish(struct gyre_upgrade_step *step);

/** *differ: the state or a buffer that the journal holds is of another type, size or place than the kernel's. */
gyre_status gyre_upgrade_compare_state(const struct gyre_durable *durable, bool *differ);
/** Makes the state of the journal one of `size` bytes, as the kernel has it. */
gyre_status gyre_upgrade_state(struct gyre_durable *durable, uint64_t size);

#endif
