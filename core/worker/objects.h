/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that the core knows by numbers: modules, queues, buffers and launched kernels. Threads: any. */
#ifndef GYRE_CORE_WORKER_OBJECTS_H
#define GYRE_CORE_WORKER_OBJECTS_H

#include <stdint.h>

#include "gyre/status.h"

enum worker_kind { WORKER_MODULE = 1, WORKER_QUEUE, WORKER_MEMORY, WORKER_RESIDENT };

/** Something that the core knows by a number. */
struct worker_object {
    struct worker_object *next;
    uint64_t id;
    enum worker_kind kind;
    void *handle;  /* the backend's: gyre_module and so on */
    void *mapping; /* of the core's memory that belongs to it; NULL when there is none */
    uint64_t size; /* of the mapping */
};

/** Maps shared memory that came as a descriptor, which it closes. EXHAUSTED. */
gyre_status worker_map(int descriptor, uint64_t size, void **mapping);
/** Takes over the object (handle and mapping). EXHAUSTED without memory: then the caller still owns both. */
gyre_status worker_keep(const struct worker_object *object);
/** INTERNAL when the core names something that is not there. */
gyre_status worker_find(uint64_t id, enum worker_kind kind, struct worker_object *out);
/**
 * Looks at all launched kernels. LOST when their device died, which on some devices leaves the process alive.
 */
gyre_status worker_look_at_residents(void);
/** Releases the object with this number. */
gyre_status worker_release(uint64_t id);

#endif
