/* SPDX-License-Identifier: Apache-2.0 */
/* Tells programs where a buffer lies, and keeps it there meanwhile. Lock: runtime->lock for `held`, `going` and `moving` of a buffer. */
#include <gyre/place.h>

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/device/buffer.h"

/* Whether the buffer may be held as it is. Under runtime->lock. */
static gyre_status check_hold(const gyre_buffer *buffer)
{
    if (gyre_dispatch_isolated(buffer->dispatch))
        return gyre_error_set(GYRE_UNIMPLEMENTED,
                              "the buffer is memory of a worker process (isolation = process), where this "
                              "program cannot reach it: use gyre_buffer_upload and gyre_buffer_download");
    if (__atomic_load_n(&buffer->in_checkpoints, __ATOMIC_RELAXED))
        return gyre_error_set(GYRE_INVALID,
                              "the buffer is, or was, in the checkpoints of a kernel, which would not "
                              "see what is stored in place: use gyre_buffer_upload");
    if (buffer->going || buffer->moving)
        return gyre_error_set(GYRE_AGAIN, "the buffer is %s: nobody can hold it now",
                              buffer->going ? "being freed" : "on its way to another device");
    return GYRE_OK;
}

static void tell_place(const gyre_buffer *buffer, gyre_buffer_place *out)
{
    gyre_buffer_place place = {.size = out->size, .bytes = buffer->size};
    place.host = gyre_dispatch_memory_place(buffer->dispatch, buffer->memory);
    place.device = gyre_dispatch_ordinal(buffer->dispatch);
    snprintf(place.backend, sizeof place.backend, "%s", gyre_dispatch_backend(buffer->dispatch));
    gyre_error_hold();
    if (gyre_dispatch_memory_address(buffer->dispatch, buffer->memory, &place.address) != GYRE_OK)
        place.address = 0; /* a backend that tells none */
    gyre_error_let_go();
    memcpy(out, &place, out->size < sizeof place ? out->size : sizeof place);
}

gyre_status gyre_buffer_hold(gyre_buffer *buffer, gyre_buffer_place *out)
{
    if (!buffer || !out || out->size < sizeof out->size)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_buffer_hold needs a buffer and a gyre_buffer_place whose size is set");
    gyre_status status = gyre_runtime_check_own(buffer->runtime, "gyre_buffer_hold");
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&buffer->runtime->lock);
    status = check_hold(buffer);
    if (status == GYRE_OK) {
        buffer->held++;
        tell_place(buffer, out);
    }
    pthread_mutex_unlock(&buffer->runtime->lock);
    return status;
}

void gyre_buffer_let_go(gyre_buffer *buffer)
{
    if (!buffer || buffer->runtime->foreign)
        return;
    pthread_mutex_lock(&buffer->runtime->lock);
    buffer->held -= buffer->held > 0;
    pthread_mutex_unlock(&buffer->runtime->lock);
}

gyre_status gyre_buffers_enter_checkpoints(gyre_buffer *const *buffers, uint32_t count)
{
    bool held = false;
    if (!count)
        return GYRE_OK;
    pthread_mutex_lock(&buffers[0]->runtime->lock);
    for (uint32_t i = 0; i < count; i++)
        held |= buffers[i]->held > 0;
    for (uint32_t i = 0; !held && i < count; i++)
        __atomic_store_n(&buffers[i]->in_checkpoints, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&buffers[0]->runtime->lock);
    return held
               ? gyre_error_set(
                     GYRE_INVALID,
                     "the program holds a buffer of the kernel in place, whose checkpoints would not see what is "
                     "stored there: call gyre_buffer_let_go, or set checkpoint_buffers = false")
               : GYRE_OK;
}
