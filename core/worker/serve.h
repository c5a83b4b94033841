/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the worker program share. The other end is core/isolation. */
#ifndef GYRE_CORE_WORKER_SERVE_H
#define GYRE_CORE_WORKER_SERVE_H

#include <sys/types.h>

#include "core/dispatch/dispatch.h"
#include "core/parcel/parcel.h"

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

/* objects.c: threads: any. */

/** Maps shared memory that came as a descriptor, which it closes. EXHAUSTED. */
gyre_status worker_map(int descriptor, uint64_t size, void **mapping);
/** Takes over the object (handle and mapping); EXHAUSTED without memory, and then they are the caller's
 * still. */
gyre_status worker_keep(const struct worker_object *object);
/** INTERNAL when the core names something that is not there. */
gyre_status worker_find(uint64_t id, enum worker_kind kind, struct worker_object *out);
/**
 * Looks at all launched kernels: LOST when their device died, which on some devices leaves the process alive.
 */
gyre_status worker_look_at_residents(void);
/** Releases what has this number. */
gyre_status worker_release(uint64_t id);

/* operations.c, launches.c: each reads its arguments from the message and writes its answer into it. */
typedef gyre_status worker_operation(struct gyre_parcel *parcel);
worker_operation worker_open, worker_close, worker_compile, worker_module_load, worker_module_kernel,
    worker_queue_alloc, worker_memory_alloc, worker_transfer, worker_memory_copy, worker_promote,
    worker_launch, worker_wait, worker_notify;

/** The device, once it is open. */
struct gyre_dispatch *worker_device(void);
/** "The message makes no sense": INTERNAL. */
gyre_status worker_nonsense(void);

/* guard.c */

/** The program in its other role (core/isolation/guard.h): returns the exit code. */
int worker_guard(int socket, pid_t program, const char *prefix);

/* serve.c */

/** Answers the core until it closes the control socket. */
void worker_serve(int control);
/** Log lines to the core; never blocks: a line that finds no room is dropped. */
void worker_log(void *context, int level, const char *text);
void worker_log_kernel(uint64_t id, const char *text, int64_t value);

#endif
