/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a request is in its ring. */
#ifndef GYRE_CPU_READY_H
#define GYRE_CPU_READY_H

#include "backends/cpu/cpu_resident.h"

static inline const gyre_slot *cpu_request_slot(const struct cpu_queue *queue, gyre_u64 index)
{
    const unsigned char *base = (const unsigned char *)queue->region + queue->slots.request_offset;
    return (const gyre_slot *)(const void *)(base + (index & (queue->slots.capacity - 1)) *
                                                        queue->slots.request_stride);
}

/* Whether the request is there. The acquire pairs with the client's release of the sequence. */
static inline bool cpu_request_ready(const struct cpu_queue *queue, gyre_u64 index)
{
    return __atomic_load_n(&cpu_request_slot(queue, index)->sequence, __ATOMIC_ACQUIRE) == index + 1;
}

#endif
