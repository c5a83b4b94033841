/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structs of a device in a worker process and of its objects, shared by the files proxy*.c. Private to this
 * folder.
 */
#ifndef GYRE_CORE_ISOLATION_PROXY_DEVICE_H
#define GYRE_CORE_ISOLATION_PROXY_DEVICE_H

#include "core/isolation/worker_keeper.h"
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
    PROXY_DOWN, /* the worker died, and the next worker is being started */
    PROXY_GONE  /* the worker died, and no other worker will follow */
};

/** An object of the device that a new worker has to make again. */
struct proxy_object {
    struct proxy_object *next;
    gyre_device *device;
    uint64_t id; /* the worker knows it by this; the same in every worker */
    /** Makes the object in the worker. gyre_proxy_revive calls it again in the next worker. */
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
    bool has_notify; /* the backend has the operation notify */
    bool can_copy;   /* the backend copies within its device */

    pthread_mutex_t lock; /* for the members below; not held across a call */
    pthread_cond_t changed;
    enum proxy_state state;
    uint64_t incarnation; /* of the worker that is up */
    uint32_t calls;       /* calls under way in other threads than the keeper's */
    uint64_t next_id;
    struct proxy_connection *connections; /* idle connections */
    struct proxy_object *objects;         /* all objects; the newest is first */
    struct gyre_resident *residents;      /* launched kernels, listed for their log lines */
    bool (*lost)(void *context);
    void *lost_context;
    struct proxy_standby *standby; /* NULL: no standby worker is kept */
};

struct gyre_module {
    struct proxy_object object;
    struct gyre_region artifact; /* a copy of the compiled file, because the file may leave the cache */
    size_t artifact_size;
    char *path;
    struct gyre_kept_record *records;
    uint32_t record_count;
};

struct gyre_memory {
    struct proxy_object object;
    pthread_mutex_t mirror_lock; /* one transfer at a time */
    struct gyre_region mirror;   /* the program's bytes: transfers go through them, a new worker gets them */
    uint64_t size;
    bool given;       /* under mirror_lock: the mirror holds bytes that a new worker needs */
    bool has_address; /* the backend tells the buffer's address on its device */
    uint64_t device_address;
};

struct gyre_queue_memory {
    struct proxy_object object;
    int descriptor; /* owned by the core, like the queue's region */
    uint64_t region_size, device_address;
};

struct gyre_resident {
    gyre_device *device;
    struct gyre_resident *next;
    uint64_t id, incarnation;
    uint64_t control_address; /* where the control region lies in the worker */
    void (*kernel_log)(void *context, const char *text, int64_t value);
    void *kernel_log_context;
};

#endif
