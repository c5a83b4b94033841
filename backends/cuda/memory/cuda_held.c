/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the GPUs of a collective (cuda_held.h). Lock: residents->lock of each, in the order of the driver's numbers, so that two collectives
 * never wait for each other.
 */
#include "backends/cuda/memory/cuda_held.h"

#include "backends/cuda/cuda_check.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/memory/cuda_memory.h"
#include "backends/cuda/memory/cuda_transfer.h"
#include "backends/cuda/presence/cuda_quiet.h"

static void add_device(struct cuda_held *held, gyre_device *device)
{
    uint32_t at = held->count;
    for (uint32_t i = 0; i < held->count; i++)
        if (held->devices[i] == device)
            return;
    for (; at > 0 && held->devices[at - 1]->handle > device->handle; at--)
        held->devices[at] = held->devices[at - 1];
    held->devices[at] = device;
    held->count++;
}

struct cuda_held cuda_held_of(const gyre_combine_desc *desc)
{
    struct cuda_held held = {0};
    for (uint32_t i = 0; i < desc->part_count; i++)
        add_device(&held, desc->parts[i].device);
    return held;
}

static void let_go(struct cuda_held *held, uint32_t count)
{
    while (count-- > 0) {
        (void)cuda_enter(held->devices[count]); /* kernels may come back */
        cuda_hold_end(held->devices[count], held->quiet[count]);
    }
}

gyre_status cuda_held_begin(struct cuda_held *held)
{
    for (uint32_t i = 0; i < held->count; i++) {
        const gyre_status status = cuda_copy_begin(held->devices[i], &held->quiet[i]);
        if (status != GYRE_OK) {
            let_go(held, i);
            return status;
        }
    }
    return GYRE_OK;
}

gyre_status cuda_held_begin_quiet(struct cuda_held *held, uint64_t deadline_ns)
{
    for (uint32_t i = 0; i < held->count; i++) {
        const gyre_status status = cuda_quiet_begin_until(held->devices[i], deadline_ns);
        if (status != GYRE_OK) {
            let_go(held, i);
            return status;
        }
        held->quiet[i] = true;
    }
    return GYRE_OK;
}

void cuda_held_end(struct cuda_held *held)
{
    let_go(held, held->count);
}

uint32_t cuda_held_place(const struct cuda_held *held, const gyre_device *device)
{
    uint32_t i = 0;
    while (held->devices[i] != device)
        i++;
    return i;
}

gyre_status cuda_held_await(const struct cuda_held *held, gyre_status status)
{
    for (uint32_t i = 0; i < held->count; i++) {
        gyre_device *device = held->devices[i];
        gyre_status one = cuda_lost(device);
        if (one == GYRE_OK)
            one = cuda_enter(device);
        if (one == GYRE_OK)
            one = cuda_check(device, device->driver->cuStreamSynchronize(device->residents->service),
                             "cuStreamSynchronize");
        status = status == GYRE_OK ? one : status;
    }
    return status;
}

/* ---- bytes ---- */

CUdeviceptr cuda_part_place(const gyre_combine_desc *desc, uint32_t part, uint64_t from)
{
    return cuda_memory_place(desc->parts[part].memory) + desc->offset + from;
}

CUdeviceptr cuda_part_before(const gyre_combine_desc *desc, uint32_t part, uint64_t from)
{
    return cuda_memory_place(desc->parts[part].before) + desc->offset % GYRE_COMBINE_SKEW + from;
}

void cuda_part_put_back(const gyre_combine_desc *desc, uint32_t part, uint64_t from, uint64_t size)
{
    gyre_device *device = desc->parts[part].device;
    if (cuda_lost(device) != GYRE_OK || cuda_enter(device) != GYRE_OK)
        return;
    cuda_tell(device,
              device->driver->cuMemcpyDtoDAsync(cuda_part_place(desc, part, from),
                                                cuda_part_before(desc, part, from), size,
                                                device->residents->service),
              "cuMemcpyDtoDAsync", "a buffer holds a part of the result of a collective that failed");
}
