/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the replies of requests that are handled again with their first replies, and logs a
 * difference. Limits: witness.c. */
#ifndef GYRE_CORE_DURABILITY_WITNESS_H
#define GYRE_CORE_DURABILITY_WITNESS_H

#include "core/durability/checkpoint.h"

/** Prepares the comparison. Call when the kernel's checkpoints are made. */
void gyre_witness_prepare(gyre_kernel *kernel);
/** Compares the second completion of request `index` with its first one. Warns about the first request that differs. */
void gyre_witness_compare(gyre_kernel *kernel, const gyre_queue *queue, uint64_t index,
                          const gyre_view *again);

#endif
