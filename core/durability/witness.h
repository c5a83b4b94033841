/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing the replies of requests that are handled again with their first replies. */
#ifndef GYRE_CORE_DURABILITY_WITNESS_H
#define GYRE_CORE_DURABILITY_WITNESS_H

#include "core/durability/checkpoint.h"

/** Prepares the comparison. The kernel's checkpoints were made. */
void gyre_witness_prepare(gyre_kernel *kernel);
/** Logs the first request whose completion differs from the one before. */
void gyre_witness_compare(gyre_kernel *kernel, const gyre_queue *queue, uint64_t index,
                          const gyre_view *again);

#endif
