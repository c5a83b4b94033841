/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of links, on a device or in this process (link_store.h). */
#include "core/links/link_store.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory_left.h"
#include "core/device/buffer.h"
#include "gyre/ring_layout.h"

static gyre_status make_in_host(uint64_t bytes, struct gyre_link_store *out)
{
    const uint64_t size = (bytes + GYRE_LINE_SIZE - 1) / GYRE_LINE_SIZE * GYRE_LINE_SIZE;
    gyre_status status =
        gyre_memory_left_check("the links of a pipeline", size, "memory", "lower the capacity of the links");
    if (status != GYRE_OK)
        return status;
    out->host = aligned_alloc(GYRE_LINE_SIZE, size);
    if (!out->host)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for %llu bytes of links", (unsigned long long)size);
    memset(out->host, 0, size);
    out->address = (uint64_t)(uintptr_t)out->host;
    return GYRE_OK;
}

gyre_status gyre_link_store_make(struct gyre_dispatch *device, bool in_host, uint64_t bytes,
                                 struct gyre_link_store *out)
{
    *out = (struct gyre_link_store){.memory = NULL};
    if (in_host)
        return make_in_host(bytes, out);
    out->device = device;
    gyre_status status = gyre_dispatch_memory_alloc(device, bytes, &out->memory);
    if (status == GYRE_OK)
        status = gyre_memory_fill_zero(device, out->memory, bytes);
    if (status == GYRE_OK)
        status = gyre_dispatch_memory_address(device, out->memory, &out->address);
    if (status != GYRE_OK)
        gyre_link_store_release(out);
    return status;
}

gyre_status gyre_link_store_make_shown(struct gyre_dispatch *device, uint64_t bytes,
                                       struct gyre_link_store *out)
{
    *out = (struct gyre_link_store){.memory = NULL};
    gyre_status status = gyre_region_create("the links of a pipeline", bytes, &out->region);
    if (status != GYRE_OK)
        return status;
    out->device = device;
    out->host = out->region.address;
    const gyre_queue_memory_desc desc = {.size = sizeof desc,
                                         .address = out->region.address,
                                         .region_size = out->region.size,
                                         .descriptor = out->region.descriptor};
    status = gyre_dispatch_queue_alloc(device, &desc, &out->shown, &out->address);
    if (status != GYRE_OK) {
        gyre_region_destroy(&out->region);
        *out = (struct gyre_link_store){.memory = NULL};
    }
    return status;
}

void gyre_link_store_renew(struct gyre_link_store *store)
{
    if (!store->shown)
        return;
    memset(store->host, 0, store->region.size);
    store->address = gyre_dispatch_queue_address(store->device, store->shown);
}

void gyre_link_store_hide(struct gyre_link_store *store)
{
    if (store->shown)
        gyre_dispatch_queue_release(store->device, store->shown);
    store->shown = NULL;
}

void gyre_link_store_release(struct gyre_link_store *store)
{
    gyre_dispatch_memory_release(store->device, store->memory);
    gyre_link_store_hide(store);
    if (store->region.address)
        gyre_region_destroy(&store->region);
    else
        free(store->host);
    *store = (struct gyre_link_store){.memory = NULL};
}

gyre_status gyre_link_store_write(const struct gyre_link_store *store, uint64_t offset, const void *bytes,
                                  uint64_t count)
{
    if (store->host) {
        __atomic_thread_fence(__ATOMIC_RELEASE); /* behind what was read: a sender may fill its place again */
        memcpy((unsigned char *)store->host + offset, bytes, count);
        return GYRE_OK;
    }
    const gyre_transfer_desc desc = {.size = sizeof desc,
                                     .kind = GYRE_TRANSFER_UPLOAD,
                                     .memory = store->memory,
                                     .offset = offset,
                                     .byte_count = count,
                                     .source = bytes};
    return gyre_dispatch_transfer(store->device, &desc);
}

static void read_host(const struct gyre_link_store *store, uint64_t offset, uint64_t *words, uint64_t count)
{
    for (uint64_t i = 0; i < count / sizeof *words; i++)
        words[i] = __atomic_load_n(&store->host[offset / sizeof *words + i], __ATOMIC_RELAXED);
}

static gyre_transfer_desc download_desc(const struct gyre_link_store *store, uint64_t offset, uint64_t *words,
                                        uint64_t count)
{
    return (gyre_transfer_desc){.size = sizeof(gyre_transfer_desc),
                                .kind = GYRE_TRANSFER_DOWNLOAD,
                                .memory = store->memory,
                                .offset = offset,
                                .byte_count = count,
                                .target = words};
}

gyre_status gyre_link_store_read(const struct gyre_link_store *store, uint64_t offset, uint64_t *words,
                                 uint64_t count)
{
    const gyre_transfer_desc desc = download_desc(store, offset, words, count);
    if (!store->host)
        return gyre_dispatch_transfer(store->device, &desc);
    read_host(store, offset, words, count);
    return GYRE_OK;
}

gyre_status gyre_link_store_peek(const struct gyre_link_store *store, uint64_t offset, uint64_t *words,
                                 uint64_t count)
{
    const gyre_transfer_desc desc = download_desc(store, offset, words, count);
    if (store->host) {
        read_host(store, offset, words, count);
        return GYRE_OK;
    }
    /* where blocks are threads, a transfer is a copy, which waits for nobody */
    if (gyre_dispatch_device_info(store->device)->can_wake)
        return gyre_dispatch_transfer_now(store->device, &desc);
    return gyre_dispatch_memory_peek(store->device, store->memory, offset, words, count);
}
