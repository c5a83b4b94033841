/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the proxy share. Private to this folder. */
#ifndef GYRE_CORE_ISOLATION_PROXY_DEVICE_H
#define GYRE_CORE_ISOLATION_PROXY_DEVICE_H

#include "core/isolation/keeper.h"
#include "core/isolation/proxy.h"
#include "core/parcel/records.h"
#include "core/ring/region.h"

/** One connection to the worker: a thread of the worker answers it. */
struct proxy_connection {
    struct proxy_connection *next;
    int socket;
    uint64_t incarnation;
    struct gyre_parcel parcel;
};

struct proxy_standby;

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
    bool found;
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
    struct proxy_standby *standby; /* NULL: none is kept */
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
    enum gyre_parcel_operation operation;
    void (*put)(struct gyre_parcel *parcel, void *argument);
    gyre_status (*get)(struct gyre_parcel *parcel, void *argument); /* NULL: there are no results */
    uint64_t limit_ns;    /* what each worker gets for it; 0: the device's timeout, or until the deadline */
    uint64_t deadline_ns; /* it gets until then in any case; 0: none */
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
/** Sends the call and receives its answer. *broken: the connection is of no more use. */
gyre_status proxy_exchange(gyre_device *device, const struct proxy_call *call,
                           struct proxy_connection *connection, void *argument, bool *broken);
/** A connection that belongs to nobody; EXHAUSTED. Freed with proxy_connection_close, also unconnected. */
gyre_status proxy_connection_create(struct proxy_connection **out);
void proxy_connection_close(struct proxy_connection *connection);
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

/* proxy.c */

/** GYRE_PARCEL_OPEN with the device's description, which the answer has to be another one of. */
gyre_status proxy_open_again(gyre_device *device, struct proxy_connection *connection);

/* proxy_module.c */

/** What a worker needs to load the module: a copy, of use when the module is gone. False: not a module, or no
 * memory. */
bool proxy_module_lend(const struct proxy_object *object, struct gyre_module *copy);
gyre_status proxy_module_load_again(gyre_device *device, struct gyre_module *copy,
                                    struct proxy_connection *connection);
void proxy_module_give_back(struct gyre_module *copy);

/* standby.c: a second worker with the device opened and all modules loaded, which takes the place of the first
 * when that dies. All accept a device that keeps none. */

/** From now on one is kept. EXHAUSTED. */
gyre_status proxy_standby_begin(gyre_device *device);
/** Ends the thread that cares for it; the keeper, which is to be finished next, ends the process. */
void proxy_standby_finish(gyre_device *device);
/** The keeper was finished. */
void proxy_standby_free(gyre_device *device);
/** There are modules that it does not have. */
void proxy_standby_notice(gyre_device *device);
/** Under the lock: the device is up again, and another one may be started in a moment. */
void proxy_standby_may_follow(gyre_device *device);
/** For the keeper: the spare is there, or gone. */
void proxy_standby_hear(void *context, bool there, const char *why);

/** In the keeper's thread: it is the worker now. False: there is none that is ready. */
bool proxy_standby_take(gyre_device *device);
/** Whether the one that was taken has this object. */
bool proxy_standby_has(const gyre_device *device, uint64_t id);
/** What it has and the device has not any more is released. */
void proxy_standby_settle(gyre_device *device);

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
void proxy_hear_kernel(gyre_device *device, struct gyre_parcel *message);

#endif
