/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the driver made of software: the pool of a device, pinned and registered memory of the host. What is new
 * is full of garbage. Memory of the device can be touched from the point of its stream at which it was allocated to
 * the one at which it was freed, and then faults.
 *
 * Freed memory serves allocations of the same size alone, until the pool is trimmed: as fragmented as can be.
 * Takes driver.lock.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TOTAL_MEMORY (UINT64_C(2) << 30)
#define PAGE         UINT64_C(4096)

enum { GARBAGE = 0xa5, PIECE_SIZE = 1 << 20 };

static struct memory *memories;

/* ---- looking ---- */

struct memory *driver_memory_find(const void *from, size_t size)
{
    const unsigned char *first = from;
    for (struct memory *memory = memories; memory; memory = memory->next)
        if (first >= memory->from && first < memory->from + memory->size &&
            size <= (size_t)(memory->from + memory->size - first))
            return memory;
    return NULL;
}

bool driver_memory_usable(const void *from, size_t size)
{
    pthread_mutex_lock(&driver.lock);
    const struct memory *memory = driver_memory_find(from, size);
    const bool usable = memory && memory->there;
    pthread_mutex_unlock(&driver.lock);
    return usable;
}

size_t driver_memory_count(const struct CUctx_st *context, enum memory_kind kind)
{
    size_t count = 0;
    for (const struct memory *memory = memories; memory; memory = memory->next)
        count += memory->context == context && memory->kind == kind && !memory->leaving;
    return count;
}

/* driver.lock held. */
static const struct memory *nearest_below(uint64_t address)
{
    const struct memory *nearest = NULL;
    for (const struct memory *memory = memories; memory; memory = memory->next)
        if ((uintptr_t)memory->from <= address && (!nearest || memory->from > nearest->from))
            nearest = memory;
    return nearest;
}

void driver_memory_describe(uint64_t address, char *text, size_t size)
{
    static const char *const kinds[] = {"an allocation", "pinned memory", "a registration"};
    pthread_mutex_lock(&driver.lock);
    const struct memory *memory = nearest_below(address);
    if (memory)
        snprintf(text, size, "%llu bytes into %s of %zu bytes%s",
                 (unsigned long long)(address - (uintptr_t)memory->from), kinds[memory->kind], memory->size,
                 memory->leaving ? ", which is being freed" : "");
    else
        snprintf(text, size, "below all memory");
    pthread_mutex_unlock(&driver.lock);
}

static bool overlaps(const unsigned char *from, size_t size)
{
    for (const struct memory *memory = memories; memory; memory = memory->next)
        if (from < memory->from + memory->size && memory->from < from + size)
            return true;
    return false;
}

/* driver.lock held. */
static struct memory *add_memory(struct CUctx_st *context, void *from, size_t size, enum memory_kind kind)
{
    struct memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    *memory = (struct memory){memories, context, from, size, kind, false, false};
    memories = memory;
    return memory;
}

static void forget_memory(struct memory *memory)
{
    struct memory **link = &memories;
    while (*link != memory)
        link = &(*link)->next;
    *link = memory->next;
    free(memory);
}

/* ---- garbage ---- */

/* A file of garbage, of which each mapping has a copy of its own where it writes. */
static int garbage_file(void)
{
    static int file = -1;
    unsigned char page[PAGE];
    if (file >= 0)
        return file;
    file = memfd_create("garbage", MFD_CLOEXEC);
    memset(page, GARBAGE, sizeof page);
    for (size_t at = 0; file >= 0 && at < PIECE_SIZE; at += sizeof page)
        if (pwrite(file, page, sizeof page, (off_t)at) != (ssize_t)sizeof page)
            return -1;
    return file;
}

static size_t whole_pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static void *map_garbage(size_t size)
{
    const size_t whole = whole_pages(size);
    const int file = garbage_file();
    unsigned char *from = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (from == MAP_FAILED || file < 0)
        return NULL;
    for (size_t at = 0; at < whole; at += PIECE_SIZE) {
        const size_t piece = whole - at < PIECE_SIZE ? whole - at : PIECE_SIZE;
        if (mmap(from + at, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file,
                 0) == MAP_FAILED) {
            munmap(from, whole);
            return NULL;
        }
    }
    return from;
}

/* ---- the pool ---- */

static struct kept **find_kept(struct CUctx_st *context, size_t size)
{
    struct kept **link = &context->kept;
    while (*link && (*link)->size != size)
        link = &(*link)->next;
    return link;
}

/* Takes the room of an allocation; driver.lock held. */
static bool take_room(struct CUctx_st *context, size_t size)
{
    struct kept *kept = *find_kept(context, size);
    if (kept && kept->count > 0) {
        kept->count--;
    } else {
        if (size > TOTAL_MEMORY - context->reserved)
            return false;
        context->reserved += size;
    }
    context->used += size;
    return true;
}

static void give_room(struct CUctx_st *context, size_t size)
{
    struct kept **link = find_kept(context, size);
    context->used -= size;
    if (!*link)
        *link = calloc(1, sizeof **link);
    if (*link && context->threshold > 0) {
        (*link)->size = size;
        (*link)->count++;
    } else {
        context->reserved -= size;
    }
}

/* What a stream does when it comes to an allocation. */
static void arrive(struct memory *memory)
{
    pthread_mutex_lock(&driver.lock);
    machine_memory_add(memory->from, memory->size);
    memory->there = true;
    pthread_mutex_unlock(&driver.lock);
}

/* ... and to a release. */
static void leave(struct memory *memory)
{
    pthread_mutex_lock(&driver.lock);
    machine_memory_remove(memory->from);
    munmap(memory->from, whole_pages(memory->size));
    give_room(memory->context, memory->size);
    forget_memory(memory);
    pthread_mutex_unlock(&driver.lock);
}

static void run_arrival(struct operation *operation)
{
    arrive(operation->memory);
}

static void run_leave(struct operation *operation)
{
    leave(operation->memory);
}

static struct memory *make_memory(struct CUctx_st *context, size_t size)
{
    struct memory *memory = NULL;
    pthread_mutex_lock(&driver.lock);
    if (take_room(context, size)) {
        void *from = map_garbage(size);
        memory = from ? add_memory(context, from, size, MEMORY_DEVICE) : NULL;
        if (!memory)
            give_room(context, size);
    }
    pthread_mutex_unlock(&driver.lock);
    return memory;
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    if (size == 0)
        return driver_complain(CUDA_ERROR_INVALID_VALUE, "cuMemAllocAsync", "no bytes are asked for");
    struct memory *memory = make_memory(context, size);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct operation *operation = driver_operation(stream, run_arrival);
    operation->memory = memory;
    *address = (CUdeviceptr)(uintptr_t)memory->from;
    driver_submit(operation);
    return CUDA_SUCCESS;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    struct memory *memory = driver_memory_find((const void *)(uintptr_t)address, 1);
    const bool right = memory && memory->kind == MEMORY_DEVICE && !memory->leaving &&
                       (CUdeviceptr)(uintptr_t)memory->from == address;
    if (right)
        memory->leaving = true;
    pthread_mutex_unlock(&driver.lock);
    if (!right)
        return driver_complain(CUDA_ERROR_INVALID_VALUE, "cuMemFreeAsync",
                               "%#llx is no allocation, or was freed before", (unsigned long long)address);
    struct operation *operation = driver_operation(stream, run_leave);
    operation->memory = memory;
    driver_submit(operation);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice number)
{
    struct CUctx_st *device = driver_device(number);
    *pool = (CUmemoryPool)(void *)device;
    return device ? driver_begin(__func__) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value)
{
    struct CUctx_st *device = (struct CUctx_st *)(void *)pool;
    const CUresult result = driver_begin(__func__);
    if (result != CUDA_SUCCESS)
        return result;
    if (which != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        return driver_complain(CUDA_ERROR_INVALID_VALUE, "cuMemPoolSetAttribute",
                               "attribute %d is not modelled", (int)which);
    device->threshold = *(const cuuint64_t *)value;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value)
{
    const struct CUctx_st *device = (struct CUctx_st *)(void *)pool;
    const CUresult result = driver_begin(__func__);
    if (result != CUDA_SUCCESS)
        return result;
    if (which != CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT && which != CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
        return driver_complain(CUDA_ERROR_INVALID_VALUE, "cuMemPoolGetAttribute",
                               "attribute %d is not modelled", (int)which);
    pthread_mutex_lock(&driver.lock);
    *(cuuint64_t *)value = which == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT ? device->reserved : device->used;
    pthread_mutex_unlock(&driver.lock);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t least)
{
    struct CUctx_st *device = (struct CUctx_st *)(void *)pool;
    CUresult result = driver_begin(__func__);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    result = driver_await_quiet(device, "cuMemPoolTrimTo");
    for (struct kept *kept = device->kept; kept; kept = kept->next)
        for (; kept->count > 0 && device->reserved - kept->size >= least; kept->count--)
            device->reserved -= kept->size;
    pthread_mutex_unlock(&driver.lock);
    return result;
}

/* ---- memory of the host ---- */

static bool is_mapped(const void *from, size_t size)
{
    const uintptr_t first = (uintptr_t)from / PAGE * PAGE;
    return msync((void *)first, (uintptr_t)from + size - first, MS_ASYNC) == 0;
}

CUresult cuMemHostRegister(void *from, size_t size, unsigned flags)
{
    struct CUctx_st *context;
    CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    if (size == 0 || !(flags & CU_MEMHOSTREGISTER_DEVICEMAP) || !is_mapped(from, size))
        return driver_complain(CUDA_ERROR_INVALID_VALUE, "cuMemHostRegister",
                               "%zu bytes at %p are no memory of the process", size, from);
    pthread_mutex_lock(&driver.lock);
    struct memory *memory = NULL;
    if (overlaps(from, size))
        result = driver_complain(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "cuMemHostRegister",
                                 "%zu bytes at %p are registered, in part at least", size, from);
    else if (!(memory = add_memory(context, from, size, MEMORY_REGISTERED)))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_unlock(&driver.lock);
    if (memory)
        arrive(memory);
    return result;
}

/* Takes pinned or registered memory back, once no kernel is on the device. */
static CUresult take_back(void *from, enum memory_kind kind, const char *call)
{
    struct CUctx_st *context;
    CUresult result = driver_enter(&context, call);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    result = driver_await_quiet(context, call);
    struct memory *memory = result == CUDA_SUCCESS ? driver_memory_find(from, 1) : NULL;
    if (memory && memory->kind == kind && memory->from == from) {
        machine_memory_remove(memory->from);
        if (kind == MEMORY_PINNED)
            munmap(memory->from, whole_pages(memory->size));
        forget_memory(memory);
    } else if (result == CUDA_SUCCESS) {
        result = driver_complain(kind == MEMORY_PINNED ? CUDA_ERROR_INVALID_VALUE
                                                       : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
                                 call, "%p is none of its memory", from);
    }
    pthread_mutex_unlock(&driver.lock);
    return result;
}

CUresult cuMemHostUnregister(void *from)
{
    return take_back(from, MEMORY_REGISTERED, "cuMemHostUnregister");
}

CUresult cuMemFreeHost(void *from)
{
    return take_back(from, MEMORY_PINNED, "cuMemFreeHost");
}

CUresult cuMemHostAlloc(void **from, size_t size, unsigned flags)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    (void)flags; /* with one address space all of it is mapped and portable */
    if (result != CUDA_SUCCESS)
        return result;
    *from = size ? map_garbage(size) : NULL;
    pthread_mutex_lock(&driver.lock);
    struct memory *memory = *from ? add_memory(context, *from, size, MEMORY_PINNED) : NULL;
    pthread_mutex_unlock(&driver.lock);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    arrive(memory);
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *from, unsigned flags)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    const struct memory *memory = driver_memory_find(from, 1);
    const bool right = memory && memory->kind != MEMORY_DEVICE && flags == 0;
    pthread_mutex_unlock(&driver.lock);
    *address = (CUdeviceptr)(uintptr_t)from;
    return right ? CUDA_SUCCESS
                 : driver_complain(CUDA_ERROR_INVALID_VALUE, "cuMemHostGetDevicePointer",
                                   "%p is not registered", from);
}

/* Fails for memory that the driver does not know: callers ask for that reason. */
CUresult cuPointerGetAttribute(void *value, CUpointer_attribute which, CUdeviceptr address)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    if (which != CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
        return driver_complain(CUDA_ERROR_INVALID_VALUE, "cuPointerGetAttribute",
                               "attribute %d is not modelled", (int)which);
    pthread_mutex_lock(&driver.lock);
    const struct memory *memory = driver_memory_find((const void *)(uintptr_t)address, 1);
    if (memory)
        *(CUmemorytype *)value = memory->kind == MEMORY_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    pthread_mutex_unlock(&driver.lock);
    return memory ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
