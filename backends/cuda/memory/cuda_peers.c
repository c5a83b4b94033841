/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies from one GPU to another by the copy engine, over NVLink or PCIe. Buffers are memory of stream-ordered pools, which
 * another GPU reaches only once the pool lets it in (cuMemPoolSetAccess; cuCtxEnablePeerAccess does not count for pools). Where
 * there is no such call, the driver itself takes the way through the host. Where the call fails, so does the copy.
 *
 * Takes no lock: the core makes one call at a time with either device.
 */
#include "backends/cuda/memory/cuda_peers.h"

#include <string.h>

#include "backends/cuda/cuda_check.h"
#include "backends/cuda/memory/cuda_combine.h"
#include "backends/cuda/cuda_failure.h"
#include "backends/cuda/memory/cuda_let_in.h"
#include "backends/cuda/memory/cuda_memory.h"
#include "backends/cuda/memory/cuda_peek.h"
#include "backends/cuda/presence/cuda_quiet.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/memory/cuda_transfer.h"
#include "gyre/peek.h"
#include "gyre/peer.h"

static bool can_reach(const gyre_device *source, const gyre_device *target)
{
    const struct cuda_driver *driver = source->driver;
    int can = 0;
    return driver && target->driver && source->handle != target->handle && driver->cuMemcpyPeerAsync &&
           driver->cuDeviceCanAccessPeer &&
           driver->cuDeviceCanAccessPeer(&can, source->handle, target->handle) == CUDA_SUCCESS && can;
}

/* NVLink carries atomics from GPU to GPU, and PCIe does not. */
static gyre_peer_way cuda_peer_way(gyre_device *source, gyre_device *target)
{
    int atomics = 0;
    if (!can_reach(source, target))
        return GYRE_PEER_NONE;
    if (!source->driver->cuDeviceGetP2PAttribute ||
        source->driver->cuDeviceGetP2PAttribute(&atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
                                                source->handle, target->handle) != CUDA_SUCCESS)
        return GYRE_PEER_BUS;
    return atomics ? GYRE_PEER_LINK : GYRE_PEER_BUS;
}

static gyre_status cuda_peer_copy(gyre_device *source, gyre_device *target, const gyre_copy_desc *desc)
{
    const struct cuda_driver *driver = source->driver;
    bool quiet = false;
    gyre_status status = cuda_can_let_in(source, target) ? cuda_let_in(source, target, UINT64_MAX) : GYRE_OK;
    if (status == GYRE_OK)
        status = cuda_copy_begin(source, &quiet);
    if (status != GYRE_OK)
        return status;
    status = cuda_check(
        source,
        driver->cuMemcpyPeerAsync(cuda_memory_place(desc->target) + desc->target_offset, target->context,
                                  cuda_memory_place(desc->source) + desc->source_offset, source->context,
                                  desc->byte_count, source->residents->service),
        "cuMemcpyPeerAsync");
    if (status == GYRE_OK)
        status = cuda_check(source, driver->cuStreamSynchronize(source->residents->service),
                            "cuStreamSynchronize");
    cuda_hold_end(source, quiet);
    return status;
}

/* For good: the pool is never closed again. Fences of the system's scope order what blocks of both GPUs do (gyre_link_fence_). */
static gyre_status cuda_peer_let_in(gyre_device *source, gyre_device *target)
{
    if (cuda_peer_way(source, target) != GYRE_PEER_LINK)
        return source->host->error(GYRE_UNIMPLEMENTED, "GPU %d has no atomics on memory of GPU %d",
                                   source->handle, target->handle);
    return cuda_let_in(source, target, UINT64_MAX);
}

static const gyre_peer_ops peers = {
    .size = sizeof(gyre_peer_ops),
    .way = cuda_peer_way,
    .copy = cuda_peer_copy,
    .combine_prepare = cuda_combine_prepare,
    .combine = cuda_combine,
    .let_in = cuda_peer_let_in,
};

static const gyre_peek_ops peek = {.size = sizeof peek, .peek = cuda_peek};

gyre_status cuda_extension(gyre_device *device, const char *name, uint32_t version, const void **out)
{
    *out = NULL;
    if (strcmp(name, GYRE_PEERS_NAME) == 0 && version <= GYRE_PEERS_VERSION)
        *out = &peers;
    if (strcmp(name, GYRE_PEEK_NAME) == 0 && version <= GYRE_PEEK_VERSION)
        *out = &peek;
    return *out ? GYRE_OK
                : device->host->error(GYRE_UNIMPLEMENTED, "this backend has no table '%s' of version %u",
                                      name, version);
}
