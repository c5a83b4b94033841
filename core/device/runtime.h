/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object behind gyre_runtime, which all objects of one gyre_open share.
 *
 * Locks, outermost first: kernel->lock (the state of a kernel, its command and its queue table), runtime->lock (the lists and
 * the devices). A thread that sends or receives a message takes neither. A thread never holds kernel->lock while it waits for
 * a handler, a launch or another thread, so that a stop never has to wait for the end of such a wait.
 */
#ifndef GYRE_CORE_DEVICE_RUNTIME_H
#define GYRE_CORE_DEVICE_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>

#include "core/config/config.h"
#include "core/registry/registry.h"
#include "gyre/gyre.h"

struct gyre_dispatch;
struct gyre_known_type;
struct gyre_observation;
struct gyre_open_device;
struct gyre_supervisor;
struct gyre_watchdog;
struct gyre_watcher;

/** An object, for example a server of core/attach, that works with a runtime's kernels and has to end before the kernels do. */
struct gyre_runtime_guest {
    struct gyre_runtime_guest *next;
    void (*end)(
        struct gyre_runtime_guest *guest); /* called when the runtime is closed with the guest in its list */
    /*
     * of a pipeline: keeps it from being freed, under runtime->lock; then gives its kernels, which run in another worker process, their
     * links anew, and lets go of it. LOST when that worker died, too
     */
    void (*hold)(struct gyre_runtime_guest *guest);
    bool
        leaves; /* of a pipeline: it is off the list and waits for requests that are under way, so it is revived still. Under runtime->lock */
    gyre_status (*revive)(struct gyre_runtime_guest *guest, const struct gyre_dispatch *device,
                          bool by_keeper);
    /* of a pipeline, which is held: takes a checkpoint of its kernels, and lets go of it */
    gyre_status (*save)(struct gyre_runtime_guest *guest, uint64_t deadline_ns);
};

enum { GYRE_SECTIONS_TOLD = 128 };

struct gyre_runtime {
    const struct gyre_watcher
        *watcher; /* revives devices and kernels that die (watcher.h); it owns the next two members */
    struct gyre_watchdog *watchdog;
    struct gyre_supervisor *supervisor;
    struct gyre_runtime_guest *guests; /* under the lock */
    gyre_runtime *next;                /* in the list of all runtimes of the process */
    bool foreign; /* a fork of the runtime's process made this process, which may not use the runtime */
    struct gyre_config *config;
    struct gyre_registry *registry;
    int log_level; /* atomic */
    void (*log)(void *context, int level, const char *text);
    void *log_context;

    pthread_mutex_t lock;
    pthread_cond_t settled; /* the opening of a device succeeded or failed */
    struct gyre_open_device *devices;
    struct gyre_kernel *kernels;   /* in order of launch */
    struct gyre_known_type *types; /* type_registry.c */
    const char
        *told[GYRE_SECTIONS_TOLD]; /* sections.c: names of sections that had a warning, or are in use */
    /* What other processes see of this one (core/observation); NULL: no kernel was launched yet, or nobody is to see it. Atomic;
     * set once. */
    struct gyre_observation *observation;
    uint32_t observed; /* the runtime's record there */
    bool unobserved;   /* there will be no file: nobody wants it, or it cannot be made; under the lock */
    /* Copies what a kernel and its queues count into the file. Constant once the runtime is open. */
    void (*observe)(struct gyre_kernel *kernel);
    /* Does so for the links of all pipelines. */
    void (*observe_links)(gyre_runtime *runtime);
    bool device_failed; /* the last device that a caller asked for could not be opened */
    struct gyre_buffer *buffers;
    bool host_copies_told; /* that copies between devices go through the host (peers.c); atomic */
};

/** Formats a line for the application's log, unless the configured level hides it. */
void gyre_runtime_log(const gyre_runtime *runtime, gyre_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Does what gyre_runtime_log does, for the words of a handler, which stay out of the observation file. */
void gyre_runtime_log_handler(const gyre_runtime *runtime, gyre_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Opens the observation file as [observe] says, unless it is open. A failure is a line of the log. Takes the lock. */
void gyre_runtime_observe(gyre_runtime *runtime);
/** NULL: there is none (core/observation/observation.h takes that). */
static inline struct gyre_observation *gyre_runtime_observation(const gyre_runtime *runtime)
{
    return __atomic_load_n(&runtime->observation, __ATOMIC_ACQUIRE);
}

void gyre_runtime_add_guest(gyre_runtime *runtime, struct gyre_runtime_guest *guest);
/** Takes a guest off the list: it `leaves`. False when another thread took it off before: that thread ends the guest. */
bool gyre_runtime_remove_guest(gyre_runtime *runtime, struct gyre_runtime_guest *guest);

/** INVALID, with the call's name, in a process that the runtime's process forked. */
gyre_status gyre_runtime_check_own(const gyre_runtime *runtime, const char *call);

#endif
