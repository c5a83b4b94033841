/* SPDX-License-Identifier: Apache-2.0 */
/* The types of what a journal holds: of the messages of its queue, and of what checkpoints hold. */
#ifndef GYRE_CORE_DURABILITY_DURABLE_TYPES_H
#define GYRE_CORE_DURABILITY_DURABLE_TYPES_H

#include "core/durability/durable.h"

gyre_status gyre_durable_hash_type(const gyre_type *type, uint64_t *hash);
/** Adds the types of the messages of such a queue, which come first, and puts their hashes into *open. */
gyre_status gyre_durable_describe_messages(struct gyre_durable *durable, const gyre_kernel_record *record,
                                           struct gyre_record_open *open);
/** Adds the types of what the kernel's checkpoints hold, in the order of their bytes. INVALID: too many for a journal. */
gyre_status gyre_durable_describe_kept(struct gyre_durable *durable, const gyre_kernel *kernel);
/** Frees what was read from the journal of an earlier run, when its queue has taken it over. */
void gyre_durable_forget_queue(struct gyre_durable *durable);

#endif
