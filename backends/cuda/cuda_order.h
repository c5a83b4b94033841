/* SPDX-License-Identifier: Apache-2.0 */
/* Orders: how a kernel is told that there is something new to obey. */
#ifndef GYRE_CUDA_ORDER_H
#define GYRE_CUDA_ORDER_H

#include "cuda_resident.h"

gyre_status cuda_notify(gyre_resident *resident);

/** Tells the device that there is something new to obey: the control word, or (leaving) to yield. Returns the
 * order's number. Under residents->lock. */
uint64_t cuda_resident_order(gyre_resident *resident, bool leaving);

#endif
