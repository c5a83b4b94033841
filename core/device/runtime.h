/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object behind gyre_runtime: what everything of one gyre_open shares.
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

/** What works with a runtime's kernels and has to end before they do. */
struct gyre_runtime_guest {
    struct gyre_runtime_guest *next;
    void (*end)(
        struct gyre_runtime_guest *guest); /* of one that is still listed when the runtime is closed */
};

enum { GYRE_SECTIONS_TOLD = 128 };

struct gyre_runtime {
    const struct gyre_watcher *watcher; /* who brings back what dies (watcher.h), and what belongs to it */
    struct gyre_watchdog *watchdog;
    struct gyre_supervisor *supervisor;
    struct gyre_runtime_guest *guests; /* under the lock */
    gyre_runtime *next;                /* of those of the process */
    bool foreign;                      /* this process was forked by its owner: nothing of it may be used */
    struct gyre_config *config;
    struct gyre_registry *registry;
    int log_level; /* atomic */
    void (*log)(void *context, int level, const char *text);
    void *log_context;

    pthread_mutex_t lock;
    pthread_cond_t settled; /* a device was opened, or could not be */
    struct gyre_open_device *devices;
    struct gyre_kernel *kernels;          /* in order of launch */
    struct gyre_known_type *types;        /* type_registry.c */
    const char *told[GYRE_SECTIONS_TOLD]; /* sections.c: the configuration's names that were told or used */
    bool device_failed;                   /* the last device that was asked for could not be opened */
    struct gyre_buffer *buffers;
};

/** Formats a line for the application's log, unless the configured level hides it. */
void gyre_runtime_log(const gyre_runtime *runtime, gyre_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void gyre_runtime_add_guest(gyre_runtime *runtime, struct gyre_runtime_guest *guest);
/** False when it is not listed any more: whoever took it off the list ends it. */
bool gyre_runtime_remove_guest(gyre_runtime *runtime, struct gyre_runtime_guest *guest);

/** INVALID, with the call's name, in a process that was forked by the runtime's. */
gyre_status gyre_runtime_check_own(const gyre_runtime *runtime, const char *call);

#endif
