/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes orders to kernels: one word in pinned memory tells a kernel to read its control word, or to leave
 * the device for a while.
 *
 * Lock: the resident's order_lock.
 */
#include "backends/cuda/presence/cuda_order.h"
#include "backends/cuda/cuda_resident.h"

#include "gyre/waiting.h"

/* Writes the next order. The caller holds order_lock, so the later of two orders is the one that stays. */
static uint64_t write_order(gyre_resident *resident)
{
    const uint64_t order = ++resident->order_count << 1 | (resident->leaving ? GYRE_ORDER_LEAVE : 0);
    /* release: pairs with the device, which reads the control words behind it */
    __atomic_store_n(&resident->device->residents->orders[resident->line].order, order, __ATOMIC_RELEASE);
    return order;
}

uint64_t cuda_resident_order(gyre_resident *resident, bool leaving)
{
    pthread_mutex_lock(&resident->order_lock);
    if (leaving && !resident->leaving)
        resident->ordered_ns = gyre_clock_ns();
    resident->leaving = leaving;
    const uint64_t order = write_order(resident);
    pthread_mutex_unlock(&resident->order_lock);
    return order;
}

gyre_status cuda_notify(gyre_resident *resident)
{
    pthread_mutex_lock(&resident->order_lock);
    write_order(resident);
    pthread_mutex_unlock(&resident->order_lock);
    return GYRE_OK;
}
