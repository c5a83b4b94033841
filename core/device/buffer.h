/* SPDX-License-Identifier: Apache-2.0 */
/* The object behind gyre_buffer. */
#ifndef GYRE_CORE_DEVICE_BUFFER_H
#define GYRE_CORE_DEVICE_BUFFER_H

#include "core/device/runtime.h"
#include "core/dispatch/dispatch.h"

struct gyre_buffer {
    gyre_runtime *runtime;
    struct gyre_buffer *next;
    struct gyre_dispatch *dispatch;
    gyre_memory *memory;
    uint64_t size;
    bool in_checkpoints; /* atomic: a kernel may have the buffer in its checkpoints */
    /* under runtime->lock */
    uint32_t bound;   /* kernels that use the buffer and are not terminated */
    bool going;       /* the buffer is being freed: no kernel may be launched again with it */
    uint64_t handle;  /* the buffer's name in messages; 0: none */
    uint64_t address; /* of a buffer with a name, from the backend */
    uint64_t
        last_handle; /* the present or the last name: a handler may still use it, so its place in the tables stays taken */
};

/** gyre_buffer_alloc on a device that is open. */
gyre_status gyre_buffer_alloc_on(gyre_runtime *runtime, struct gyre_dispatch *dispatch, uint64_t size,
                                 gyre_buffer **out);
/** Frees a buffer that is in no list. */
void gyre_buffer_destroy(gyre_buffer *buffer);
/** Frees the buffers of a runtime without kernels, except those that a kernel that did not leave still uses. */
void gyre_buffers_close(gyre_runtime *runtime);
gyre_status gyre_memory_fill_zero(struct gyre_dispatch *dispatch, gyre_memory *memory, uint64_t size);

#endif
