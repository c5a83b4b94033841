/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object behind gyre_runtime, which all objects of one gyre_open share.
 *
 * Locks, outermost first: kernel->lock (the state of a kernel, its command and its queue table),
 * runtime->lock (the lists and the devices). Neither is taken on the path of a message, and kernel->lock is
 * never held while a handler, a launch or another thread is waited for, so that a wait keeps no stop out.
 */
#ifndef GYRE_CORE_DEVICE_RUNTIME_H
#define GYRE_CORE_DEVICE_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>

#include "core/config/config.h"
#include "core/registry/registry.h"
#include "gyre/gyre.h"

struct gyre_known_type;
struct gyre_open_device;
struct gyre_supervisor;
struct gyre_watchdog;
struct gyre_watcher;

/** An object that works with a runtime's kernels, and has to end before they do. */
struct gyre_runtime_guest {
    struct gyre_runtime_guest *next;
    void (*end)(
        struct gyre_runtime_guest *guest); /* called when the runtime is closed with the guest in its list */
};

enum { GYRE_SECTIONS_TOLD = 128 };

struct gyre_runtime {
    const struct gyre_watcher
        *watcher; /* revives devices and kernels that die (watcher.h); the next two are its own */
    struct gyre_watchdog *watchdog;
    struct gyre_supervisor *supervisor;
    struct gyre_runtime_guest *guests; /* under the lock */
    gyre_runtime *next;                /* in the list of all runtimes of the process */
    bool foreign; /* this process was forked by the runtime's process, and may not use the runtime */
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
        *told[GYRE_SECTIONS_TOLD]; /* sections.c: names of sections that were warned about, or are in use */
    bool device_failed;            /* the last device that a caller asked for could not be opened */
    struct gyre_buffer *buffers;
};

/** Formats a line for the application's log, unless the configured level hides it. */
void gyre_runtime_log(const gyre_runtime *runtime, gyre_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void gyre_runtime_add_guest(gyre_runtime *runtime, struct gyre_runtime_guest *guest);
/** False when the guest is not listed any more: the thread that took it off the list ends it. */
bool gyre_runtime_remove_guest(gyre_runtime *runtime, struct gyre_runtime_guest *guest);

/** INVALID, with the call's name, in a process that the runtime's process forked. */
gyre_status gyre_runtime_check_own(const gyre_runtime *runtime, const char *call);

#endif
