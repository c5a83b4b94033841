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
    bool in_checkpoints; /* atomic: of some kernel, perhaps */
    /* under runtime->lock */
    uint32_t bound;       /* kernels that are not terminated and use it */
    bool going;           /* it is being freed: no kernel is launched again with it meanwhile */
    uint64_t handle;      /* how messages name it, 0: not at all */
    uint64_t address;     /* of a buffer with a name, as the backend told it */
    uint64_t last_handle; /* the name it has or had: a handler may still use it, so its place stays taken */
};

/** gyre_buffer_alloc on a device that is open. */
gyre_status gyre_buffer_alloc_on(gyre_runtime *runtime, struct gyre_dispatch *dispatch, uint64_t size,
                                 gyre_buffer **out);
/** One that is in no list. */
void gyre_buffer_destroy(gyre_buffer *buffer);
/** Frees the buffers of a runtime without kernels; those of a kernel that stayed behind stay with it. */
void gyre_buffers_close(gyre_runtime *runtime);
gyre_status gyre_memory_fill_zero(struct gyre_dispatch *dispatch, gyre_memory *memory, uint64_t size);

#endif
