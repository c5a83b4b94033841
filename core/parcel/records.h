/* SPDX-License-Identifier: Apache-2.0 */
/* Types and kernel records in messages. */
#ifndef GYRE_CORE_PARCEL_RECORDS_H
#define GYRE_CORE_PARCEL_RECORDS_H

#include "core/parcel/parcel.h"
#include "gyre/backend.h"

/** Memory of what came in a message: a chain, released as a whole. NULL: empty. */
struct gyre_kept_block;
void gyre_kept_release(struct gyre_kept_block **blocks);

/** A type, with the types of its fields. */
void gyre_type_put(struct gyre_parcel *parcel, const gyre_type *type);
/** NULL for what is broken (gyre_parcel_refuse). Lives as long as *blocks, which may hold more already. */
const gyre_type *gyre_type_get(struct gyre_parcel *parcel, struct gyre_kept_block **blocks);

/** A record as it came, and the memory that its pointers point to. */
struct gyre_kept_record {
    gyre_kernel_record record;
    struct gyre_kept_block *blocks;
};

void gyre_record_put(struct gyre_parcel *parcel, const gyre_kernel_record *record);
/** INTERNAL for a message that holds no record, EXHAUSTED; *out is then empty. */
gyre_status gyre_record_get(struct gyre_parcel *parcel, struct gyre_kept_record *out);
/** Accepts an empty one. */
void gyre_record_release(struct gyre_kept_record *record);

#endif
