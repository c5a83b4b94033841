/* SPDX-License-Identifier: Apache-2.0 */
/* Whether requests that are handled again are completed as they were before. */
#ifndef GYRE_CORE_DURABILITY_WITNESS_H
#define GYRE_CORE_DURABILITY_WITNESS_H

#include "core/durability/checkpoint.h"

/** The kernel's checkpoints were made: replies can be compared from now on. */
void gyre_witness_prepare(gyre_kernel *kernel);
/** Logs the first time that a request which is handled again is completed as it was not before. */
void gyre_witness_compare(gyre_kernel *kernel, const gyre_queue *queue, uint64_t index,
                          const gyre_view *again);

#endif
