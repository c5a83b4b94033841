/* SPDX-License-Identifier: Apache-2.0 */
/* The object behind gyre_buffer, memory of a device. */
#ifndef GYRE_CORE_DEVICE_BUFFER_H
#define GYRE_CORE_DEVICE_BUFFER_H

#include "core/device/runtime.h"
#include "core/dispatch/dispatch.h"

struct gyre_buffer {
    gyre_runtime *runtime;
    struct gyre_buffer *next;
    pthread_rwlock_t
        place; /* of the next two: read while they are used, written by a kernel that moves with its buffers */
    struct gyre_dispatch *dispatch;
    gyre_memory *memory;
    uint64_t size;
    bool
        in_checkpoints; /* atomic, set under runtime->lock: a kernel may have the buffer in its checkpoints; stays set */
    /* under runtime->lock */
    uint32_t bound; /* kernels that use the buffer and are not terminated */
    uint32_t held;  /* how often the program holds it where it is (gyre/place.h) */
    bool going;     /* the buffer is being freed: no kernel may be launched again with it */
    bool
        moving; /* its kernel is on the way to another device: no kernel is launched with it, and it gets no name */
    uint64_t handle;  /* the buffer's name in messages; 0: none */
    uint64_t address; /* address on the device, from the backend; only for a buffer with a name */
    uint64_t
        last_handle; /* the present or last name: its table entry stays taken, as a handler may still use it */
};

/** Does what gyre_buffer_alloc does, on a device that is open already. */
gyre_status gyre_buffer_alloc_on(gyre_runtime *runtime, struct gyre_dispatch *dispatch, uint64_t size,
                                 gyre_buffer **out);
/** Frees a buffer that is in no list. */
void gyre_buffer_destroy(gyre_buffer *buffer);
/** Frees the buffers of a runtime whose kernels are released, except buffers that a handler may still use. */
void gyre_buffers_close(gyre_runtime *runtime);
/**
 * Notes that the buffers are in the checkpoints of a kernel, for good: nobody holds them in place from here on. INVALID, with nothing
 * noted, when the program holds one of them.
 */
gyre_status gyre_buffers_enter_checkpoints(gyre_buffer *const *buffers, uint32_t count);
gyre_status gyre_memory_fill_zero(struct gyre_dispatch *dispatch, gyre_memory *memory, uint64_t size);
/** Copies `size` bytes of the memory, from `offset` on, to `bytes`. */
gyre_status gyre_memory_read(struct gyre_dispatch *dispatch, gyre_memory *memory, uint64_t offset,
                             void *bytes, uint64_t size);

#endif
