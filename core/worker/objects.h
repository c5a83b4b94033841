/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the worker's objects by the numbers that the core gave them: modules, queues, buffers and launched kernels
 * (objects.c). Threads: any.
 */
#ifndef GYRE_CORE_WORKER_OBJECTS_H
#define GYRE_CORE_WORKER_OBJECTS_H

#include <stdint.h>

#include "gyre/status.h"

enum worker_kind { WORKER_MODULE = 1, WORKER_QUEUE, WORKER_MEMORY, WORKER_RESIDENT };

/** An object of the backend that the core knows by a number. */
struct worker_object {
    struct worker_object *next;
    uint64_t id;
    enum worker_kind kind;
    void *handle;  /* the backend's object: a gyre_module and so on */
    void *mapping; /* mapped memory of the core that belongs to the object; NULL: none does */
    uint64_t size; /* bytes of the mapping */
};

/** Maps shared memory that came as a descriptor, and closes the descriptor. EXHAUSTED. */
gyre_status worker_map(int descriptor, uint64_t size, void **mapping);
/** Takes over the object (handle and mapping). EXHAUSTED without memory: then the caller still owns both. */
gyre_status worker_keep(const struct worker_object *object);
/** Copies the object with this number and kind to *out. INTERNAL when there is no such object. */
gyre_status worker_find(uint64_t id, enum worker_kind kind, struct worker_object *out);
/**
 * Looks at all launched kernels. LOST when their device died. Some devices die and leave the process alive.
 */
gyre_status worker_look_at_residents(void);
/** Releases the object with this number. */
gyre_status worker_release(uint64_t id);

#endif
