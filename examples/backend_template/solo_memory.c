/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: the device sees the host's, so nothing is mapped and a transfer is a copy. No locks, no state. */
#include "solo.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

/*
 * The core owns the region. A backend with a device maps it here (desc->address, or desc->descriptor in
 * another process) and says at which address the device sees it; this one uses it where it is.
 */
gyre_status solo_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc, gyre_queue_memory **out,
                             uint64_t *device_address)
{
    (void)device;
    *out = desc->address;
    *device_address = (uint64_t)(uintptr_t)desc->address;
    return GYRE_OK;
}

void solo_queue_release(gyre_queue_memory *memory)
{
    (void)memory;
}

gyre_status solo_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    *out = NULL;
    gyre_memory *memory = calloc(1, sizeof *memory);
    if (memory && byte_count <= PTRDIFF_MAX && posix_memalign(&memory->data, ALIGNMENT, byte_count) != 0)
        memory->data = NULL;
    if (!memory || !memory->data) {
        free(memory);
        return device->host->error(GYRE_EXHAUSTED, "no memory for a buffer of %llu bytes; use a smaller one",
                                   (unsigned long long)byte_count);
    }
    *out = memory;
    return GYRE_OK;
}

void solo_memory_release(gyre_memory *memory)
{
    if (!memory)
        return;
    free(memory->data);
    free(memory);
}

gyre_status solo_transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    unsigned char *place = (unsigned char *)desc->memory->data + desc->offset;
    switch (desc->kind) {
    case GYRE_TRANSFER_UPLOAD:
        memcpy(place, desc->source, desc->byte_count);
        return GYRE_OK;
    case GYRE_TRANSFER_DOWNLOAD:
        memcpy(desc->target, place, desc->byte_count);
        return GYRE_OK;
    case GYRE_TRANSFER_FILL:
        memset(place, desc->fill, desc->byte_count);
        return GYRE_OK;
    }
    return device->host->error(GYRE_UNIMPLEMENTED, "the solo backend has no transfer of kind %d",
                               (int)desc->kind);
}

/* With this, messages may name buffers; the kernel's context points to the table that the core keeps. */
gyre_status solo_memory_address(gyre_memory *memory, uint64_t *address)
{
    *address = (uint64_t)(uintptr_t)memory->data;
    return GYRE_OK;
}
