/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a kernel's state and buffers from its device to the one that it moves to (carried_over.h). Takes no lock but those of the devices
 * (core/dispatch).
 */
#include "core/change/carried_over.h"

#include "core/base/error.h"
#include "core/device/peers.h"

/* Bytes of one copy, so that other operations of the devices come in between. */
#define PIECE (UINT64_C(256) << 20)
/* Bytes of the copy that prepares the way. */
#define FIRST UINT64_C(64)

/* From memory of the kernel's device to memory of the other one. */
struct pair {
    const struct gyre_kernel_change *change;
    gyre_memory *from, *to;
    uint64_t size;
};

static struct gyre_dispatch *old_device(const struct gyre_kernel_change *change)
{
    return change->kernel->dispatch;
}

static bool reaches(const struct gyre_kernel_change *change)
{
    const enum gyre_reach way =
        gyre_peers_reach(change->kernel->runtime, old_device(change), change->other.dispatch);
    return way == GYRE_REACH_BUS || way == GYRE_REACH_LINK;
}

/* A memory of the change, to learn by which way all go; size 0: nothing is kept. */
static struct pair first_pair(const struct gyre_kernel_change *change)
{
    const struct gyre_kernel_memory *memory = &change->kernel->memory;
    if (memory->state)
        return (struct pair){change, memory->state, change->other.memory.state, memory->state_size};
    if (change->buffer_count > 0)
        return (struct pair){change, change->buffers[0].buffer->memory, change->buffers[0].memory,
                             change->buffers[0].buffer->size};
    return (struct pair){change, NULL, NULL, 0};
}

bool gyre_carried_over_can(const struct gyre_kernel_change *change)
{
    const struct pair pair = first_pair(change);
    if (!change->moves || change->through_host || gyre_dispatch_isolated(old_device(change)) ||
        gyre_dispatch_isolated(change->other.dispatch) || !pair.size)
        return false;
    return reaches(change) || gyre_dispatch_memory_place(old_device(change), pair.from) ||
           gyre_dispatch_memory_place(change->other.dispatch, pair.to);
}

/* Where one of the two lies in this process, the other device reads or writes there. */
static gyre_status copy_in_place(const struct pair *pair, uint64_t at, uint64_t size)
{
    struct gyre_dispatch *from = old_device(pair->change), *to = pair->change->other.dispatch;
    unsigned char *place = gyre_dispatch_memory_place(to, pair->to);
    const gyre_transfer_desc down = {.size = sizeof down,
                                     .kind = GYRE_TRANSFER_DOWNLOAD,
                                     .memory = pair->from,
                                     .offset = at,
                                     .byte_count = size,
                                     .target = place ? place + at : NULL};
    if (place)
        return gyre_dispatch_transfer(from, &down);
    const gyre_transfer_desc up = {.size = sizeof up,
                                   .kind = GYRE_TRANSFER_UPLOAD,
                                   .memory = pair->to,
                                   .offset = at,
                                   .byte_count = size,
                                   .source = gyre_dispatch_memory_place(from, pair->from) + at};
    return gyre_dispatch_transfer(to, &up);
}

static gyre_status copy_some(const struct pair *pair, bool by_peers, uint64_t at, uint64_t size)
{
    const gyre_copy_desc desc = {.size = sizeof desc,
                                 .source = pair->from,
                                 .target = pair->to,
                                 .source_offset = at,
                                 .target_offset = at,
                                 .byte_count = size};
    return by_peers ? gyre_peers_copy(pair->change->kernel->runtime, old_device(pair->change),
                                      pair->change->other.dispatch, &desc)
                    : copy_in_place(pair, at, size);
}

static gyre_status copy_all(const struct pair *pair, bool by_peers)
{
    gyre_status status = GYRE_OK;
    for (uint64_t at = 0; status == GYRE_OK && at < pair->size; at += PIECE)
        status = copy_some(pair, by_peers, at, pair->size - at < PIECE ? pair->size - at : PIECE);
    return status;
}

void gyre_carried_over_prepare(struct gyre_kernel_change *change)
{
    const struct pair pair = first_pair(change);
    if (!gyre_carried_over_can(change) || !reaches(change))
        return;
    if (copy_some(&pair, true, 0, pair.size < FIRST ? pair.size : FIRST) == GYRE_OK)
        return;
    change->through_host = true;
    gyre_runtime_log(change->kernel->runtime, GYRE_LOG_INFO,
                     "kernel '%s' moves through the host, because no copy from device to device succeeds: %s",
                     change->kernel->name, gyre_error_text());
    gyre_error_clear();
}

gyre_status gyre_carried_over(const struct gyre_kernel_change *change)
{
    const struct gyre_kernel_memory *memory = &change->kernel->memory;
    const bool by_peers = reaches(change);
    gyre_status status = GYRE_OK;
    if (memory->state) {
        const struct pair state = {change, memory->state, change->other.memory.state, memory->state_size};
        status = copy_all(&state, by_peers);
    }
    for (uint32_t i = 0; status == GYRE_OK && i < change->buffer_count; i++) {
        const struct gyre_moved_buffer *moved = &change->buffers[i];
        const struct pair buffer = {change, moved->buffer->memory, moved->memory, moved->buffer->size};
        status = copy_all(&buffer, by_peers);
    }
    return status;
}
