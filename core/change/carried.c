/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a kernel's state and buffers into this program, and onto a device again (carried.h). Takes no lock. */
#include "core/change/carried.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory_left.h"
#include "core/dispatch/dispatch.h"
#include "core/types/buffers.h"

/* Bytes of one transfer, so that other operations of the device come in between. */
#define PIECE (UINT64_C(64) << 20)

static gyre_status download(struct gyre_dispatch *device, gyre_memory *memory, uint64_t size,
                            unsigned char **out)
{
    gyre_status status = gyre_memory_left_check("a copy of what a kernel keeps", size, "memory",
                                                "launch it anew with the other handler or device");
    *out = status == GYRE_OK ? malloc(size) : NULL;
    if (status == GYRE_OK && !*out)
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for a copy of the %llu bytes that a kernel keeps",
                                (unsigned long long)size);
    for (uint64_t at = 0; status == GYRE_OK && at < size; at += PIECE) {
        const gyre_transfer_desc piece = {.size = sizeof piece,
                                          .kind = GYRE_TRANSFER_DOWNLOAD,
                                          .memory = memory,
                                          .offset = at,
                                          .byte_count = size - at < PIECE ? size - at : PIECE,
                                          .target = *out + at};
        status = gyre_dispatch_transfer(device, &piece);
    }
    return status;
}

static gyre_status upload(struct gyre_dispatch *device, gyre_memory *memory, uint64_t size,
                          const unsigned char *bytes)
{
    gyre_status status = GYRE_OK;
    for (uint64_t at = 0; status == GYRE_OK && at < size; at += PIECE) {
        const gyre_transfer_desc piece = {.size = sizeof piece,
                                          .kind = GYRE_TRANSFER_UPLOAD,
                                          .memory = memory,
                                          .offset = at,
                                          .byte_count = size - at < PIECE ? size - at : PIECE,
                                          .source = bytes + at};
        status = gyre_dispatch_transfer(device, &piece);
    }
    return status;
}

static bool is_carried(const struct gyre_carried *carried, const gyre_buffer *buffer)
{
    for (uint32_t i = 0; i < carried->buffer_count; i++)
        if (carried->buffers[i].buffer == buffer)
            return true;
    return false;
}

static gyre_status take_buffers(gyre_kernel *kernel, bool all, struct gyre_carried *out)
{
    gyre_buffer_list list = {0};
    gyre_status status = gyre_buffer_list_init(&list, kernel->record->buffers, kernel->record->buffer_types);
    out->buffers = calloc((size_t)list.count + 1, sizeof *out->buffers);
    if (status == GYRE_OK && !out->buffers)
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory to copy the buffers of a kernel");
    for (uint32_t i = 0; status == GYRE_OK && i < list.count; i++) {
        gyre_buffer *const buffer = kernel->memory.buffers[i];
        if ((!all && !list.slots[i].writable) || is_carried(out, buffer))
            continue;
        struct gyre_carried_buffer *copy = &out->buffers[out->buffer_count++];
        copy->buffer = buffer;
        status = download(buffer->dispatch, buffer->memory, buffer->size, &copy->bytes);
    }
    gyre_buffer_list_finish(&list);
    return status;
}

gyre_status gyre_carried_take(gyre_kernel *kernel, unsigned what, struct gyre_carried *out)
{
    gyre_status status = GYRE_OK;
    *out = (struct gyre_carried){.type = kernel->record->state};
    if ((what & GYRE_CARRY_STATE) && kernel->memory.state)
        status = download(kernel->dispatch, kernel->memory.state, kernel->memory.state_size, &out->state);
    if (status == GYRE_OK && (what & (GYRE_CARRY_BUFFERS | GYRE_CARRY_WRITTEN)))
        status = take_buffers(kernel, what & GYRE_CARRY_BUFFERS, out);
    return status;
}

gyre_status gyre_carried_put(const gyre_kernel *kernel, const struct gyre_carried *carried)
{
    gyre_status status = GYRE_OK;
    const unsigned char *state =
        kernel->record->state != carried->type && carried->grown ? carried->grown : carried->state;
    if (state && kernel->memory.state)
        status = upload(kernel->dispatch, kernel->memory.state, kernel->memory.state_size, state);
    for (uint32_t i = 0; status == GYRE_OK && i < carried->buffer_count; i++) {
        const gyre_buffer *buffer = carried->buffers[i].buffer;
        status = upload(buffer->dispatch, buffer->memory, buffer->size, carried->buffers[i].bytes);
    }
    return status;
}

void gyre_carried_finish(struct gyre_carried *carried)
{
    for (uint32_t i = 0; i < carried->buffer_count; i++)
        free(carried->buffers[i].bytes);
    free(carried->buffers);
    free(carried->state);
    free(carried->grown);
    *carried = (struct gyre_carried){0};
}
