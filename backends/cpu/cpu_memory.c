/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates memory of the CPU backend: buffers and queues are memory of this process. */
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/cpu_memory.h"

#include <gyre/host_memory.h>

#include <stdlib.h>
#include <string.h>

enum { BUFFER_ALIGNMENT = 64 };

/*
 * A queue's handle is the address of its region and owns nothing: workers use the region where the core
 * mapped it.
 */
gyre_status cpu_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc, gyre_queue_memory **out,
                            uint64_t *device_address)
{
    (void)device;
    *out = desc->address;
    *device_address = (uint64_t)(uintptr_t)desc->address;
    return GYRE_OK;
}

void cpu_queue_release(gyre_queue_memory *memory)
{
    (void)memory;
}

gyre_status cpu_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    gyre_memory *memory = calloc(1, sizeof *memory);
    *out = NULL;
    /* the size is not rounded up: tools that watch the heap then see the first byte behind a buffer */
    if (memory && byte_count <= PTRDIFF_MAX &&
        posix_memalign(&memory->data, BUFFER_ALIGNMENT, byte_count) != 0)
        memory->data = NULL;
    if (!memory || !memory->data) {
        free(memory);
        return device->host->error(GYRE_EXHAUSTED, "no memory for a buffer of %llu bytes; use a smaller one",
                                   (unsigned long long)byte_count);
    }
    *out = memory;
    return GYRE_OK;
}

void cpu_memory_release(gyre_memory *memory)
{
    if (!memory)
        return;
    free(memory->data);
    free(memory);
}

/*
 * Copies a few words of memory that workers may be writing, as the counters of links are read: each word comes whole, as it
 * was or as it is.
 */
static bool download_words(const gyre_transfer_desc *desc, const unsigned char *place)
{
    enum { WORDS_MOST = 8192 };
    if (desc->byte_count > WORDS_MOST * sizeof(uint64_t) ||
        ((uintptr_t)place | (uintptr_t)desc->target | desc->byte_count) % sizeof(uint64_t) != 0)
        return false;
    for (uint64_t i = 0; i < desc->byte_count; i += sizeof(uint64_t)) {
        const uint64_t word = __atomic_load_n((const uint64_t *)(const void *)(place + i), __ATOMIC_RELAXED);
        memcpy((unsigned char *)desc->target + i, &word, sizeof word);
    }
    return true;
}

gyre_status cpu_transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    unsigned char *place = (unsigned char *)desc->memory->data + desc->offset;
    switch (desc->kind) {
    case GYRE_TRANSFER_UPLOAD:
        memcpy(place, desc->source, desc->byte_count);
        return GYRE_OK;
    case GYRE_TRANSFER_DOWNLOAD:
        if (!download_words(desc, place))
            memcpy(desc->target, place, desc->byte_count);
        return GYRE_OK;
    case GYRE_TRANSFER_FILL:
        memset(place, desc->fill, desc->byte_count);
        return GYRE_OK;
    }
    return device->host->error(GYRE_INVALID, "no such transfer: %d", (int)desc->kind);
}

gyre_status cpu_memory_copy(gyre_device *device, const gyre_copy_desc *desc)
{
    (void)device;
    memcpy((unsigned char *)desc->target->data + desc->target_offset,
           (const unsigned char *)desc->source->data + desc->source_offset, desc->byte_count);
    return GYRE_OK;
}

static void *place_of(gyre_memory *memory)
{
    return memory->data;
}

gyre_status cpu_extension(gyre_device *device, const char *name, uint32_t version, const void **out)
{
    static const gyre_host_memory_ops host_memory = {.size = sizeof host_memory, .place = place_of};
    (void)device;
    const bool known = strcmp(name, GYRE_HOST_MEMORY_NAME) == 0 && version == GYRE_HOST_MEMORY_VERSION;
    *out = known ? &host_memory : NULL;
    return known ? GYRE_OK : GYRE_UNIMPLEMENTED;
}

gyre_status cpu_memory_address(gyre_memory *memory, uint64_t *address)
{
    *address = (uint64_t)(uintptr_t)memory->data;
    return GYRE_OK;
}
