/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the proxy share. Private to this folder. */
#ifndef GYRE_CORE_ISOLATION_PROXY_DEVICE_H
#define GYRE_CORE_ISOLATION_PROXY_DEVICE_H

#include "core/isolation/keeper.h"
#include "core/isolation/proxy.h"
#include "core/isolation/records.h"
#include "core/ring/region.h"

/** One connection to the worker: a thread of the worker answers it. */
struct proxy_connection {
    struct proxy_connection *next;
    int socket;
    uint64_t incarnation;
    struct gyre_wire wire;
};

enum proxy_state {
    PROXY_UP,   /* calls are answered */
    PROXY_DOWN, /* the worker died; another one is on its way */
    PROXY_GONE  /* nobody brings it back */
};

/** An object of the device that a new worker has to make again. */
struct proxy_object {
    struct proxy_object *next;
    gyre_device *device;
    uint64_t id; /* the worker knows it by this; the same in every worker */
    /** Makes it in the worker; called again by revive. */
    gyre_status (*make)(struct proxy_object *object);
};

struct gyre_device {
    struct gyre_keeper keeper;
    char *backend, *library;
    gyre_parameter *parameters; /* copies */
    size_t parameter_count;
    uint32_t ordinal;
    uint64_t call_timeout_ns;
    gyre_log_function *log;
    void *log_context;
    gyre_device_info info;
    char build[128];
    bool has_notify; /* the backend wants to be told of orders */
    bool can_copy;   /* it copies within its device */

    pthread_mutex_t lock; /* for what follows; not held across a call */
    pthread_cond_t changed;
    enum proxy_state state;
    uint64_t incarnation; /* of the worker that is up */
    uint32_t calls;       /* under way, in other threads than the keeper's */
    uint64_t next_id;
    struct proxy_connection *connections; /* idle ones */
    struct proxy_object *objects;         /* the last made first */
    struct gyre_resident *residents;      /* for their log lines */
    bool (*lost)(void *context);
    void *lost_context;
};

struct gyre_module {
    struct proxy_object object;
    struct gyre_region artifact; /* a copy: the file may leave the cache */
    size_t artifact_size;
    char *path;
    struct gyre_kept_record *records;
    uint32_t record_count;
};

struct gyre_memory {
    struct proxy_object object;
    pthread_mutex_t mirror_lock; /* one transfer at a time */
    struct gyre_region mirror;   /* what was put there: restored in a new worker, and the way for transfers */
    uint64_t size;
    bool given;       /* under mirror_lock: the mirror holds something that a new worker needs */
    bool has_address; /* the backend tells where its device has it */
    uint64_t device_address;
};

struct gyre_queue_memory {
    struct proxy_object object;
    int descriptor; /* the core's, as is the region */
    uint64_t region_size, device_address;
};

struct gyre_resident {
    gyre_device *device;
    struct gyre_resident *next;
    uint64_t id, incarnation;
    void (*kernel_log)(void *context, const char *text, int64_t value);
    void *kernel_log_context;
};

/* proxy_calls.c */

/** One operation: how its arguments are written, and its results read. */
struct proxy_call {
    enum gyre_wire_operation operation;
    void (*put)(struct gyre_wire *wire, void *argument);
    gyre_status (*get)(struct gyre_wire *wire, void *argument); /* NULL: there are no results */
    uint64_t deadline_ns;                                       /* 0: the device's timeout from now */
    uint64_t
        incarnation; /* 0: whichever worker is up, and the next one when that dies; else this one or LOST */
};

/** Calls the worker. What it answers, with its sentence; LOST when there is no worker any more. */
gyre_status proxy_call(gyre_device *device, const struct proxy_call *call, void *argument);
/** The same once, by who has entered. LOST also when the worker died of it. */
gyre_status proxy_call_once(gyre_device *device, const struct proxy_call *call, void *argument);
/**
 * Waits while the worker is being replaced; it is not replaced until proxy_leave. LOST when nobody replaces
 * it. Whoever wants a certain worker (`incarnation` not 0) never waits and gets LOST when it is not up; nor
 * does the keeper's thread, which replaces it.
 */
gyre_status proxy_enter(gyre_device *device, uint64_t incarnation);
void proxy_leave(gyre_device *device);
/** Of the worker that is up, or was the last to be. */
uint64_t proxy_incarnation(gyre_device *device);
/** Closes all idle connections. Under the lock. */
void proxy_drop_connections(gyre_device *device);

/** Gives the object an id, makes it, and enters it into the list. */
gyre_status proxy_object_make(gyre_device *device, struct proxy_object *object,
                              gyre_status (*make)(struct proxy_object *object));
/** Takes it out of the list and out of the worker. */
void proxy_object_release(struct proxy_object *object);
/** Tells the worker to let go of what has this id. Entered. */
void proxy_forget(gyre_device *device, uint64_t id);

/* The operations, each implemented by the function of its slot's name. */
gyre_status proxy_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out);
gyre_status proxy_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record);
void proxy_module_release(gyre_module *module);
gyre_status proxy_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc,
                              gyre_queue_memory **out, uint64_t *device_address);
void proxy_queue_release(gyre_queue_memory *memory);
gyre_status proxy_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out);
void proxy_memory_release(gyre_memory *memory);
gyre_status proxy_memory_address(gyre_memory *memory, uint64_t *address);
gyre_status proxy_transfer(gyre_device *device, const gyre_transfer_desc *desc);
gyre_status proxy_memory_copy(gyre_device *device, const gyre_copy_desc *desc);
gyre_status proxy_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out);
gyre_status proxy_wait(gyre_resident *resident, uint64_t deadline_ns);
gyre_status proxy_notify(gyre_resident *resident);
void proxy_release(gyre_resident *resident);
/** A line that a handler in the worker wrote. */
void proxy_hear_kernel(gyre_device *device, struct gyre_wire *message);

#endif
