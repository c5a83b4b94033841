/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel records in messages: what a worker's module tells of its kernels, types included. */
#ifndef GYRE_CORE_ISOLATION_RECORDS_H
#define GYRE_CORE_ISOLATION_RECORDS_H

#include "core/isolation/wire.h"
#include "gyre/backend.h"

/** A record as it came, and the memory that its pointers point to. */
struct gyre_kept_record {
    gyre_kernel_record record;
    struct gyre_kept_block *blocks;
};

void gyre_record_put(struct gyre_wire *wire, const gyre_kernel_record *record);
/** INTERNAL for a message that holds no record, EXHAUSTED; *out is then empty. */
gyre_status gyre_record_get(struct gyre_wire *wire, struct gyre_kept_record *out);
/** Accepts an empty one. */
void gyre_record_release(struct gyre_kept_record *record);

#endif
