/* SPDX-License-Identifier: Apache-2.0 */
/* Orders, by which a kernel learns that its control word is new, or that it has to leave. */
#ifndef GYRE_CUDA_ORDER_H
#define GYRE_CUDA_ORDER_H

#include "cuda_resident.h"

gyre_status cuda_notify(gyre_resident *resident);

/** Tells the kernel to obey a new order: to read the control word, or (leaving) to yield. Returns the order's number. Under
 * residents->lock. */
uint64_t cuda_resident_order(gyre_resident *resident, bool leaving);

#endif
