/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices of the driver made of software that reach each other's memory. EMULATOR_PEERS: none, bus or link (the default). Without
 * a pool's consent a copy goes through the host, which the real driver does unseen; here the copies that went straight are counted,
 * and told to who asks for it (EMULATOR_PEER_COPIES=FILE gets a line for each, and for each kernel of the backend that combines). Takes
 * driver.lock.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool lets_in[DEVICES_MAX][DEVICES_MAX]; /* [whose pool][who may reach it] */

static bool is_wished(const char *word)
{
    const char *wish = getenv("EMULATOR_PEERS");
    return strcmp(wish ? wish : "link", word) == 0;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    if (!driver_device(device) || !driver_device(peer))
        return CUDA_ERROR_INVALID_DEVICE;
    *can = device != peer && !is_wished("none");
    return driver_begin(__func__);
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute which, CUdevice source, CUdevice target)
{
    if (!driver_device(source) || !driver_device(target) || source == target)
        return CUDA_ERROR_INVALID_DEVICE;
    if (which != CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED)
        return driver_complain(CUDA_ERROR_INVALID_VALUE, __func__, "attribute %d is not modelled",
                               (int)which);
    *value = is_wished("link");
    return driver_begin(__func__);
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
    struct CUctx_st *owner = (struct CUctx_st *)(void *)pool;
    CUresult result = driver_begin(__func__);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    result = driver_await_quiet(owner, __func__);
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++) {
        const int who = access[i].location.id;
        if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || !driver_device(who) ||
            is_wished("none"))
            result = CUDA_ERROR_INVALID_DEVICE;
        else
            lets_in[owner - driver.devices][who] = access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    pthread_mutex_unlock(&driver.lock);
    return result;
}

/* Whether the bytes are memory of this device's pool; driver.lock held. */
static bool is_of(const struct CUctx_st *context, CUdeviceptr address, size_t size)
{
    const struct memory *memory = driver_memory_find((const void *)(uintptr_t)address, size);
    return memory && memory->kind == MEMORY_DEVICE && memory->context == context && !memory->leaving;
}

static void tell_copy(const struct CUctx_st *source, const struct CUctx_st *target, size_t size)
{
    const char *path = getenv("EMULATOR_PEER_COPIES");
    const bool straight = lets_in[target - driver.devices][source - driver.devices];
    FILE *file = path && path[0] ? fopen(path, "ae") : NULL;
    if (!file)
        return;
    fprintf(file, "%d to %d, %zu bytes, %s\n", source->ordinal, target->ordinal, size,
            straight ? "straight" : "through the host");
    fclose(file);
}

bool driver_lets_in(CUdevice owner, CUdevice who)
{
    return owner == who || lets_in[owner][who];
}

CUresult driver_combine(const struct CUctx_st *context)
{
    const char *path = getenv("EMULATOR_PEER_COPIES");
    FILE *file = path && path[0] ? fopen(path, "ae") : NULL;
    if (file) {
        fprintf(file, "%d combines\n", context->ordinal);
        fclose(file);
    }
    return driver_fail("gyre_combine");
}

void driver_combine_begins(void)
{
    static uint32_t counted;
    unsigned late, milliseconds;
    const char *wish = getenv("EMULATOR_COMBINE_LATE");
    if (wish && sscanf(wish, "%u:%u", &late, &milliseconds) == 2 &&
        __atomic_add_fetch(&counted, 1, __ATOMIC_RELAXED) == late)
        nanosleep(&(struct timespec){milliseconds / 1000, (long)(milliseconds % 1000) * 1000000}, NULL);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                           CUcontext source_context, size_t size, CUstream stream)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS || size == 0)
        return result;
    pthread_mutex_lock(&driver.lock);
    const bool right = is_of(target_context, target, size) && is_of(source_context, source, size);
    if (right)
        tell_copy(source_context, target_context, size);
    pthread_mutex_unlock(&driver.lock);
    if (!right)
        return driver_complain(CUDA_ERROR_INVALID_VALUE, __func__,
                               "%zu bytes at %#llx or %#llx are no memory of the device that is named", size,
                               (unsigned long long)target, (unsigned long long)source);
    return cuMemcpyDtoDAsync(target, source, size, stream);
}
