/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets one GPU into the pool of another, of which buffers are memory: cuCtxEnablePeerAccess does not count for pools. Takes no lock of its own;
 * residents->lock of both GPUs, in the order of the driver's numbers, while no kernel is on them.
 */
#include "backends/cuda/memory/cuda_let_in.h"

#include "backends/cuda/cuda_check.h"
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/presence/cuda_quiet.h"
#include "backends/cuda/cuda_resident.h"

enum { ASKED_MAX = 64 };

static gyre_status open_pool(gyre_device *source, gyre_device *target)
{
    const struct cuda_driver *driver = target->driver;
    CUmemoryPool pool;
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = source->handle},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    gyre_status status = cuda_check(target, driver->cuDeviceGetDefaultMemPool(&pool, target->handle),
                                    "cuDeviceGetDefaultMemPool");
    if (status == GYRE_OK)
        status = cuda_check(target, driver->cuMemPoolSetAccess(pool, &access, 1), "cuMemPoolSetAccess");
    return status;
}

static uint64_t bit_of(const gyre_device *target)
{
    return target->handle < ASKED_MAX ? UINT64_C(1) << target->handle : 0;
}

bool cuda_can_let_in(const gyre_device *source, const gyre_device *target)
{
    return source->driver->cuMemPoolSetAccess && bit_of(target);
}

bool cuda_is_let_in(const gyre_device *source, const gyre_device *target)
{
    return source->handle == target->handle || (source->peers_asked & bit_of(target));
}

/*
 * Lets `source` write into the memory of `target`, once. It maps memory, for which kernels of both devices make room: whether the
 * driver would wait for them is not documented.
 */
gyre_status cuda_let_in(gyre_device *source, gyre_device *target, uint64_t deadline_ns)
{
    gyre_device *const lower = source->handle < target->handle ? source : target;
    gyre_device *const higher = lower == source ? target : source;
    if (cuda_is_let_in(source, target))
        return GYRE_OK;
    if (!cuda_can_let_in(source, target))
        return source->host->error(GYRE_UNIMPLEMENTED,
                                   "GPU %d is not let into the memory of GPU %d: the driver lacks "
                                   "cuMemPoolSetAccess, or the number is not below %d",
                                   source->handle, target->handle, ASKED_MAX);
    gyre_status status =
        cuda_quiet_begin_until(lower, deadline_ns); /* in one order: other runtimes share the GPUs */
    if (status != GYRE_OK)
        return status;
    status = cuda_quiet_begin_until(higher, deadline_ns);
    if (status == GYRE_OK) {
        status = cuda_enter(target);
        if (status == GYRE_OK)
            status = open_pool(source, target);
        (void)cuda_enter(higher);
        cuda_quiet_end(higher);
    }
    (void)cuda_enter(lower);
    cuda_quiet_end(lower);
    if (status == GYRE_OK)
        source->peers_asked |= bit_of(target);
    return status;
}

gyre_status cuda_let_in_all(const gyre_combine_desc *desc)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; i < desc->part_count; i++)
        for (uint32_t k = 0; status == GYRE_OK && k < desc->part_count; k++)
            status = cuda_let_in(desc->parts[i].device, desc->parts[k].device, desc->deadline_ns);
    return status;
}
