/* SPDX-License-Identifier: Apache-2.0 */
/* Orders: a kernel learns from an order that its control word is new, or that it has to leave the device. */
#ifndef GYRE_CUDA_ORDER_H
#define GYRE_CUDA_ORDER_H

#include "backends/cuda/cuda_resident.h"

gyre_status cuda_notify(gyre_resident *resident);

/**
 * Tells the kernel to read its control word or, if `leaving`, to yield (leave the device for a while).
 * Returns the order's number. The caller holds residents->lock.
 */
uint64_t cuda_resident_order(gyre_resident *resident, bool leaving);

#endif
