/* SPDX-License-Identifier: Apache-2.0 */
/* Writes types and kernel records into messages, and reads them (records.c). */
#ifndef GYRE_CORE_PARCEL_RECORDS_H
#define GYRE_CORE_PARCEL_RECORDS_H

#include "core/parcel/parcel.h"
#include "gyre/backend.h"

/**
 * A chain of memory blocks that holds types or a record read from a message. It is released as a whole. NULL: empty.
 */
struct gyre_kept_block;
void gyre_kept_release(struct gyre_kept_block **blocks);

/** Writes a type, with the types of its fields. */
void gyre_type_put(struct gyre_parcel *parcel, const gyre_type *type);
/**
 * Reads a type into the chain *blocks, which may hold other types already. The type lives as long as *blocks. NULL
 * when the message is broken (gyre_parcel_refuse).
 */
const gyre_type *gyre_type_get(struct gyre_parcel *parcel, struct gyre_kept_block **blocks);

/** A kernel record read from a message, and the memory that its pointers point to. */
struct gyre_kept_record {
    gyre_kernel_record record;
    struct gyre_kept_block *blocks;
};

void gyre_record_put(struct gyre_parcel *parcel, const gyre_kernel_record *record);
/** Reads a record. INTERNAL for a message that holds no record, EXHAUSTED: then *out is empty. */
gyre_status gyre_record_get(struct gyre_parcel *parcel, struct gyre_kept_record *out);
/** Frees the record's memory. Accepts an empty record. */
void gyre_record_release(struct gyre_kept_record *record);

#endif
