/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a kernel's state from the device into the store of its checkpoints, as snapshot.h says. Takes no lock. Never touches
 * the half of the store that holds the last checkpoint, because that checkpoint counts until the next one is complete.
 */
#include "core/durability/snapshot.h"

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"

/* bytes of one piece of a fetch, so that other operations of the device come in between */
#define PIECE (UINT64_C(64) << 20)

/* ---- room on the device ---- */

static gyre_status copy_part(gyre_kernel *kernel, const struct gyre_checkpoint_part *part)
{
    const gyre_copy_desc copy = {
        .size = sizeof copy, .source = part->memory, .target = part->snapshot, .byte_count = part->size};
    return gyre_dispatch_memory_copy(kernel->dispatch, &copy);
}

/* Allocates a part's snapshot, and tries a copy. */
static gyre_status prepare_part(gyre_kernel *kernel, struct gyre_checkpoint_part *part)
{
    gyre_status status = gyre_dispatch_memory_alloc(kernel->dispatch, part->size, &part->snapshot);
    return status == GYRE_OK ? copy_part(kernel, part) : status;
}

void gyre_snapshot_prepare(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    gyre_status status = GYRE_OK;
    checkpoints->device = kernel->dispatch;
    if (!checkpoints->part_count || !gyre_dispatch_can_copy(kernel->dispatch))
        return;
    gyre_error_hold();
    for (uint32_t i = 0; status == GYRE_OK && i < checkpoints->part_count; i++)
        status = prepare_part(kernel, &checkpoints->parts[i]);
    checkpoints->on_device = status == GYRE_OK;
    if (status != GYRE_OK) {
        gyre_runtime_log(kernel->runtime, GYRE_LOG_INFO,
                         "checkpoints of kernel '%s' pause it while its state of %llu bytes is downloaded, "
                         "because the device makes no copy of it: %s",
                         kernel->name, (unsigned long long)checkpoints->store.size, gyre_error_text());
        gyre_snapshot_release(kernel);
    }
    gyre_error_let_go();
}

void gyre_snapshot_release(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    for (uint32_t i = 0; i < checkpoints->part_count; i++) {
        gyre_dispatch_memory_release(checkpoints->device, checkpoints->parts[i].snapshot);
        checkpoints->parts[i].snapshot = NULL;
    }
    checkpoints->on_device = false;
}

/* ---- downloading ---- */

static gyre_status download_memory(gyre_kernel *kernel, gyre_memory *memory, uint64_t size,
                                   unsigned char *target)
{
    gyre_status status = GYRE_OK;
    for (uint64_t offset = 0; status == GYRE_OK && offset < size; offset += PIECE) {
        gyre_transfer_desc piece = {.size = sizeof piece,
                                    .kind = GYRE_TRANSFER_DOWNLOAD,
                                    .memory = memory,
                                    .offset = offset,
                                    .byte_count = size - offset < PIECE ? size - offset : PIECE,
                                    .target = target + offset};
        status = gyre_dispatch_transfer(kernel->dispatch, &piece);
    }
    return status;
}

static gyre_status download_all(gyre_kernel *kernel, bool copies)
{
    const struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    unsigned char *target = gyre_store_next(&checkpoints->store);
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; status == GYRE_OK && i < checkpoints->part_count; i++) {
        const struct gyre_checkpoint_part *part = &checkpoints->parts[i];
        status = download_memory(kernel, copies ? part->snapshot : part->memory, part->size, target);
        target += part->size;
    }
    return status;
}

gyre_status gyre_snapshot_take(gyre_kernel *kernel)
{
    const struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    gyre_status status = GYRE_OK;
    if (!checkpoints->on_device)
        return gyre_snapshot_read(kernel);
    for (uint32_t i = 0; status == GYRE_OK && i < checkpoints->part_count; i++)
        status = copy_part(kernel, &checkpoints->parts[i]);
    return status;
}

gyre_status gyre_snapshot_fetch(gyre_kernel *kernel)
{
    return kernel->checkpoints->on_device ? download_all(kernel, true) : GYRE_OK;
}

gyre_status gyre_snapshot_read(gyre_kernel *kernel)
{
    return kernel->checkpoints->part_count ? download_all(kernel, false) : GYRE_OK;
}
