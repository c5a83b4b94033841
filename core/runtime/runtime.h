/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the runtime share: the objects behind gyre_runtime, gyre_kernel and gyre_buffer.
 *
 * Locks, outermost first: kernel->lock (one lifecycle operation at a time), runtime->lock (the lists and the
 * devices). Neither is taken on the path of a message.
 */
#ifndef GYRE_CORE_RUNTIME_RUNTIME_H
#define GYRE_CORE_RUNTIME_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>

#include "core/config/config.h"
#include "core/dispatch/dispatch.h"
#include "core/pipeline/pipeline.h"
#include "core/registry/registry.h"
#include "core/ring/queue.h"
#include "core/ring/region.h"
#include "core/types/types.h"
#include "gyre/gyre.h"

enum { GYRE_NAME_MAX = 64 };

/** An opened device, kept until the runtime is closed. */
struct gyre_open_device {
    struct gyre_open_device *next;
    struct gyre_dispatch *dispatch;
    const struct gyre_candidate *candidate;
    uint32_t ordinal;
};

struct gyre_runtime {
    struct gyre_config *config;
    struct gyre_registry *registry;
    int log_level;
    void (*log)(void *context, int level, const char *text);
    void *log_context;

    pthread_mutex_t lock;
    struct gyre_open_device *devices;
    struct gyre_kernel *kernels; /* in order of launch */
    struct gyre_buffer *buffers;
};

struct gyre_kernel {
    gyre_runtime *runtime;
    struct gyre_kernel *next;
    char name[GYRE_NAME_MAX];
    struct gyre_dispatch *dispatch;
    struct gyre_build *build;
    const gyre_kernel_record *record;
    uint32_t lanes, blocks;
    uint64_t launched_ns;

    gyre_memory *state;           /* NULL when the kernel has none */
    void *initial_state;          /* what state is at launch; NULL: zero bytes */
    struct gyre_buffer **buffers; /* bound, in binding order */
    uint32_t buffer_count;

    pthread_mutex_t lock;
    struct gyre_region region; /* the control region */
    gyre_control_region *control;
    gyre_resident *resident;        /* NULL while terminated */
    gyre_kernel_state kernel_state; /* atomic: written under the lock, read without */
    uint64_t epoch;
    gyre_queue *queues; /* by `next`; the default queue is `main_queue` */
    gyre_queue *main_queue;
    uint64_t queue_serial;
};

struct gyre_buffer {
    gyre_runtime *runtime;
    struct gyre_buffer *next;
    struct gyre_dispatch *dispatch;
    gyre_memory *memory;
    uint64_t size;
    uint32_t bound; /* kernels that are not terminated and use it; under runtime->lock */
};

/** Formats a line for the application's log, unless the configured level hides it. */
void gyre_runtime_log(const gyre_runtime *runtime, gyre_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* devices.c */

/**
 * The device that a backend name (NULL: as configured; may be "auto") and ordinal mean, opened on first use.
 * *out is borrowed until the runtime is closed.
 */
gyre_status gyre_runtime_device(gyre_runtime *runtime, const char *backend, uint32_t ordinal,
                                struct gyre_dispatch **out);
void gyre_runtime_close_devices(gyre_runtime *runtime);

/* control.c: the control region and its word. All under kernel->lock. */
gyre_status gyre_control_create(gyre_kernel *kernel);
/** Zeroes the lines of the device for another launch. */
void gyre_control_reset(gyre_kernel *kernel);
/** Tells the device what to do (an enum gyre_verb), also when only the queue table changed. */
void gyre_control_order(gyre_kernel *kernel, uint64_t verb);
/** Waits until every block obeyed the last command. TIMEOUT, LOST. */
gyre_status gyre_control_acknowledged(gyre_kernel *kernel, uint64_t deadline_ns);
const gyre_control_block *gyre_control_blocks(const gyre_kernel *kernel);
/** The verb of the last command. */
uint64_t gyre_control_verb(const gyre_kernel *kernel);

/* kernel_queue.c: queues in the table. Under kernel->lock. */
gyre_status gyre_kernel_add_queue(gyre_kernel *kernel, const gyre_queue_desc *desc, gyre_queue **out);
/** Takes it out of the table, waits until the device let go of it, and frees it. */
void gyre_kernel_remove_queue(gyre_kernel *kernel, gyre_queue *queue);
/** Points every entry of the table at the next unsent index, for a device that starts anew. */
void gyre_kernel_rewind_queues(gyre_kernel *kernel);

/* launch.c */
/** Starts the device side: state, bindings, workers; waits until it runs. Under kernel->lock. */
gyre_status gyre_kernel_start(gyre_kernel *kernel, bool active);
/** Counts the kernel in (or out) at the buffers that it binds. */
void gyre_kernel_hold_buffers(gyre_kernel *kernel, bool hold);

/* kernel.c */
void gyre_kernel_free(gyre_kernel *kernel);
void gyre_kernel_set_state(gyre_kernel *kernel, gyre_kernel_state state);
gyre_kernel_state gyre_kernel_get_state(const gyre_kernel *kernel);

/* buffer.c */
gyre_status gyre_memory_fill_zero(struct gyre_dispatch *dispatch, gyre_memory *memory, uint64_t size);

/* Shorthands for the sections of this kernel and queue. */
static inline int64_t gyre_kernel_setting(const gyre_kernel *kernel, const char *key)
{
    return gyre_config_int(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, key);
}

#endif
