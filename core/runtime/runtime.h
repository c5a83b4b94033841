/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the runtime share: the objects behind gyre_runtime and gyre_buffer (kernel_inside.h has that of
 * gyre_kernel), and their functions.
 *
 * Locks, outermost first: kernel->lock (the state of a kernel, its command and its queue table),
 * runtime->lock (the lists and the devices). Neither is taken on the path of a message, and kernel->lock is
 * never held while a handler, a launch or another thread is waited for, so that a wait keeps no stop out.
 */
#ifndef GYRE_CORE_RUNTIME_RUNTIME_H
#define GYRE_CORE_RUNTIME_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>

#include "core/config/config.h"
#include "core/dispatch/dispatch.h"
#include "core/pipeline/pipeline.h"
#include "core/registry/registry.h"
#include "core/ring/region.h"
#include "core/runtime/kernel_inside.h"
#include "core/runtime/supervisor.h"
#include "core/runtime/tools.h"
#include "core/runtime/watchdog.h"
#include "core/types/types.h"
#include "core/queue/queue.h"
#include "gyre/gyre.h"

/** A device that is opened, or being opened; kept until the runtime is closed. */
struct gyre_open_device {
    struct gyre_open_device *next;
    struct gyre_dispatch *dispatch; /* of the thread that opens it, while one does */
    const struct gyre_candidate *candidate;
    uint32_t ordinal;
    bool opening; /* under runtime->lock, which is given up meanwhile */

    /* of a device in a worker process; its keeper's thread alone uses them (recovery.c) */
    gyre_runtime *runtime;
    uint32_t futile;   /* restarts in a row after which no request was answered */
    uint64_t answered; /* requests of its kernels when the worker died last: to see whether there were more */
    bool careful;      /* requests are handed out one by one, because one of them is suspected */
};

/** What works with a runtime's kernels and has to end before they do. */
struct gyre_runtime_guest {
    struct gyre_runtime_guest *next;
    void (*end)(
        struct gyre_runtime_guest *guest); /* of one that is still listed when the runtime is closed */
};

enum { GYRE_SECTIONS_TOLD = 128 };

struct gyre_runtime {
    struct gyre_watchdog watchdog;
    struct gyre_supervisor supervisor;
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

struct gyre_buffer {
    gyre_runtime *runtime;
    struct gyre_buffer *next;
    struct gyre_dispatch *dispatch;
    gyre_memory *memory;
    uint64_t size;
    bool in_checkpoints; /* atomic: of some kernel, perhaps */
    /* under runtime->lock */
    uint32_t bound;       /* kernels that are not terminated and use it */
    bool going;           /* it is being freed: no kernel is launched again with it meanwhile */
    uint64_t handle;      /* how messages name it, 0: not at all */
    uint64_t address;     /* of a buffer with a name, as the backend told it */
    uint64_t last_handle; /* the name it has or had: a handler may still use it, so its place stays taken */
};

/* runtime.c */

/** Formats a line for the application's log, unless the configured level hides it. */
void gyre_runtime_log(const gyre_runtime *runtime, gyre_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void gyre_runtime_add_guest(gyre_runtime *runtime, struct gyre_runtime_guest *guest);
/** False when it is not listed any more: whoever took it off the list ends it. */
bool gyre_runtime_remove_guest(gyre_runtime *runtime, struct gyre_runtime_guest *guest);

/* forked.c */

/** From now on a forked child knows that it is not its own. */
void gyre_runtime_enlist(gyre_runtime *runtime);
/** No effect on one that is not listed. */
void gyre_runtime_unlist(gyre_runtime *runtime);
/** INVALID, with the call's name, in a process that was forked by the runtime's. */
gyre_status gyre_runtime_check_own(const gyre_runtime *runtime, const char *call);

/* devices.c: see tools.h as well */

void gyre_runtime_close_devices(gyre_runtime *runtime);

/* control.c: the control region and its word. Under kernel->lock, unless it says otherwise. */
gyre_status gyre_control_create(gyre_kernel *kernel);
/** Zeroes the lines of the device for another launch. */
void gyre_control_reset(gyre_kernel *kernel);
/** Tells the device what to do (an enum gyre_verb), also when only the queue table changed. */
void gyre_control_order(gyre_kernel *kernel, uint64_t verb);
/** What a wait for the device gives way to. */
enum gyre_control_yield {
    GYRE_YIELD_TO_NOTHING,
    GYRE_YIELD_TO_STOP, /* CLOSED as soon as the kernel is being terminated */
    GYRE_YIELD_TO_TURN, /* ... or another thread waits for its turn */
};
/**
 * Waits until every block obeyed the last command, or one after it. The lock is given up meanwhile; the
 * kernel is not freed before the wait is over. TIMEOUT, LOST, CLOSED.
 */
gyre_status gyre_control_acknowledged(gyre_kernel *kernel, enum gyre_control_yield yield,
                                      uint64_t deadline_ns);
const gyre_control_block *gyre_control_blocks(const gyre_kernel *kernel);
/** The device died for good; one in a worker process that
 * died is replaced, unless the kernel was given up. */
bool gyre_control_is_lost(const gyre_kernel *kernel);
/** The verb of the last command. */
uint64_t gyre_control_verb(const gyre_kernel *kernel);

/* kernel_queue.c */

/** Makes a queue and puts it into the table, which is announced by the next command. Takes the lock. */
gyre_status gyre_kernel_add_queue(gyre_kernel *kernel, const gyre_queue_desc *desc, gyre_queue **out);
/** The same for a queue that is configured by [queue.SECTION], whatever its own name. */
gyre_status gyre_kernel_add_ring(gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                 gyre_queue **out);
/** The same for a queue whose client is another program (core/queue/lent.h); *options: whether it is `trusted`, and
 * afterwards how it was made. UNAVAILABLE where the device would handle in place what it may not.
 * Not where gyre_kernel_relays. */
gyre_status gyre_kernel_lend_ring(gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                  struct gyre_queue_options *options, gyre_queue **out);
/** How such a queue is made, `lent` or not; *options has nothing to be freed after a failure. */
gyre_status gyre_kernel_plan_ring(const gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                  bool lent, struct gyre_queue_options *options);
/** Takes a queue off its kernel and frees it. Takes the lock. */
void gyre_kernel_close_queue(gyre_queue *queue);
/** Makes a queue that is in no list yet, and makes it visible to the device. */
gyre_status gyre_kernel_make_queue(gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                   gyre_queue **out);
/** Frees one that is in no list, or whose device has left. */
void gyre_kernel_free_queue(gyre_kernel *kernel, gyre_queue *queue);
/** Frees every queue of a kernel whose device side has left. */
void gyre_kernel_free_queues(gyre_kernel *kernel);
/** Lets everybody who waits in a call on a queue of the kernel return; what comes after is CLOSED as well. */
void gyre_kernel_abandon_queues(gyre_kernel *kernel);
/** Points every entry of the table at the next unsent index,
 * for a device that starts anew. Under the lock. */
void gyre_kernel_rewind_queues(gyre_kernel *kernel);

/* queue_table.c: which queues the device sees, as the next command announces. Under the lock. */

/** Writes the entry of a queue of the list, from its first unanswered request on. */
void gyre_kernel_write_entry(gyre_kernel *kernel, gyre_queue *queue);
/** Takes every entry out of the table, also those that a worker wrote there. */
void gyre_kernel_clear_table(gyre_kernel *kernel);
/** Puts a queue that is not in the list into the table, and no other. */
void gyre_kernel_show_only(gyre_kernel *kernel, gyre_queue *queue);
/**
 * Writes every entry of the table for a device that starts anew, with the addresses at which it sees the
 * queues now and the first index that it has to handle: `resume` says the first unanswered one, else what
 * stands there. Queues whose gate is 0 are left out. No device is there.
 */
void gyre_kernel_write_table(gyre_kernel *kernel, bool resume);
/** Puts a queue that was left out into the table, from its first unanswered request on. */
void gyre_kernel_show_queue(gyre_kernel *kernel, gyre_queue *queue);
/** Lets the device see a queue's requests below `gate`. */
void gyre_kernel_set_gate(gyre_queue *queue, uint64_t gate);

/* choices.c */
/** The types of a kernel, from its name and its records. Owner of *out, also after a failure: the caller. */
gyre_status gyre_kernel_types_create(const char *name, const gyre_type *request, const gyre_type *reply,
                                     struct gyre_kernel_types **out);
/**
 * The types of a queue whose caller has a protocol that one side extended: its messages are converted, so it sends and receives its
 * own types, while headers and queries are the kernel's. *out NULL: they are the kernel's own. Owner of *out, also after a
 * failure: the caller.
 */
gyre_status gyre_kernel_types_create_grown(const struct gyre_kernel_types *kernels,
                                           const struct gyre_queue_growth *request,
                                           const struct gyre_queue_growth *reply,
                                           struct gyre_kernel_types **out);
/** Accepts NULL. */
void gyre_kernel_types_destroy(struct gyre_kernel_types *types);
/** Notes which types have handlers that change nothing; `queries` as in gyre_kernel_record. EXHAUSTED. */
gyre_status gyre_kernel_types_mark(struct gyre_kernel_types *types, const char *queries);
/** Tells a queue of the kernel what its headers say of each type of a protocol, and which are of queries. */
void gyre_kernel_types_name(struct gyre_kernel_types *types, gyre_queue *queue);
/** Of its requests, as the device has them; NULL before gyre_kernel_types_create. */
const gyre_layout *gyre_kernel_request_layout(const gyre_kernel *kernel);

/* sections.c */
/**
 * A kernel of that name is launched, or a queue or shards opened: where no section is for it, one whose name
 * looks like a mistyped one is told in the log. `build`: the kernels of its file, or NULL.
 */
void gyre_sections_look(gyre_runtime *runtime, enum gyre_section_kind kind, const char *name,
                        const struct gyre_build *build);

/* buffer.c */
/** gyre_buffer_alloc on a device that is open. */
gyre_status gyre_buffer_alloc_on(gyre_runtime *runtime, struct gyre_dispatch *dispatch, uint64_t size,
                                 gyre_buffer **out);

/* span_memory.c */
/**
 * Gives a queue that was just made the memory that its section asks for with span_handles, if its requests
 * have tails. INVALID, UNIMPLEMENTED or EXHAUSTED, and why the setting cannot work there.
 */
gyre_status gyre_span_memory_create(gyre_kernel *kernel, const char *section, gyre_queue *queue);
/** After the queue was freed. Accepts NULL. */
void gyre_span_memory_destroy(gyre_buffer *memory);

/* spans.c: spans of messages that lie in device buffers. */

/** Writes into a request where its buffers are now, by the kernel's table. */
void gyre_spans_settle(const gyre_kernel *kernel, void *request, uint64_t length);
/** Of one far part of a request of that queue. */
void gyre_span_settle(const gyre_queue *queue, gyre_far *far);
/** The same for every unanswered request of its queues. Takes the lock; no device is there. */
void gyre_spans_relocate(gyre_kernel *kernel);

/* type_registry.c */
gyre_status gyre_types_of_kernel(const gyre_kernel *kernel);
void gyre_types_forget(gyre_runtime *runtime);

/* binding.c */
/** The state of a kernel that was built: memory on its device, and what it begins with. */
gyre_status gyre_kernel_prepare_state(gyre_kernel *kernel, const gyre_launch_desc *desc);
/** Whether the kernel declares every name that something is bound to; INVALID. */
gyre_status gyre_kernel_check_bindings(const gyre_kernel *kernel, const gyre_launch_desc *desc);
/** The buffers, by the names that the kernel declares. INVALID when one is missing, unknown or unfit. */
gyre_status gyre_kernel_bind(gyre_kernel *kernel, const gyre_launch_desc *desc);
/** Counts the kernel in at the buffers that it binds. NOT_FOUND when one was freed since it ended, or is being. */
gyre_status gyre_kernel_hold_buffers(gyre_kernel *kernel);
/** Counts it out again. */
void gyre_kernel_let_buffers_go(gyre_kernel *kernel);
/** A kernel that does not hold it has not got it any more. Under runtime->lock. */
void gyre_kernel_forget_buffer(gyre_kernel *kernel, const gyre_buffer *buffer);

/* start.c */
/**
 * Starts the device side of a kernel that has none: state, bindings, workers; waits until it runs. Under the
 * lock, which is given up meanwhile. After a failure the device side is gone again, or, when it does not
 * leave, the state is "stopping".
 */
gyre_status gyre_kernel_start(gyre_kernel *kernel, bool active);
/**
 * Hands everything to the backend: the control region and the queue table stand. Without the lock, by the
 * thread that has `starting`. `anew`: with the initial state.
 */
gyre_status gyre_kernel_launch_device(gyre_kernel *kernel, bool anew, gyre_resident **out);

/* relayed.c: queues of other programs' clients into queues that keep what is sent (core/attach/relay.h) */

/** Whether what is sent as [queue.SECTION] says is kept for another time, by checkpoints or a journal. */
bool gyre_kernel_relays(const gyre_kernel *kernel, const char *section);
/**
 * The queue of the kernel that takes it, which is opened if it is not there yet; the caller is in it then
 * (gyre_queue_leave). INVALID, UNIMPLEMENTED for one that cannot, CLOSED, and what opening a queue returns.
 */
gyre_status gyre_kernel_relay_target(gyre_kernel *kernel, const char *section, gyre_queue **out);
/** How the ring of a client is made whose requests go into `target`. INVALID when they do not fit into it. */
gyre_status gyre_kernel_plan_relayed(const gyre_kernel *kernel, const gyre_queue *target,
                                     const gyre_queue_desc *desc, const char *section,
                                     struct gyre_queue_options *options);

/* lifecycle.c */
/** Waits until nobody takes the device side up or down. Under the lock, which is given up meanwhile. */
void gyre_kernel_await_turn(gyre_kernel *kernel);
/**
 * Waits until every block obeyed the last command, also when the kernel is brought back meanwhile. Under the
 * lock, which is given up meanwhile.
 */
gyre_status gyre_kernel_await_obeyed(gyre_kernel *kernel, uint64_t deadline_ns);
/** As gyre_kernel_terminate, under the lock, which is given up meanwhile. */
gyre_status gyre_kernel_end(gyre_kernel *kernel, uint64_t drain_deadline_ns, uint64_t *unhandled);

/* kernel.c */
/** A kernel without anything but its locks; NULL for want of memory. */
gyre_kernel *gyre_kernel_create(gyre_runtime *runtime);
/** Into the runtime's list. INVALID when another one has its name, which may have come since that was checked. */
gyre_status gyre_kernel_list(gyre_kernel *kernel);
/** From now on it is in the list that applications see. */
void gyre_kernel_announce(gyre_kernel *kernel);
void gyre_kernel_set_state(gyre_kernel *kernel, gyre_kernel_state state);
gyre_kernel_state gyre_kernel_get_state(const gyre_kernel *kernel);
/** The kernel of that name, kept from being freed until gyre_kernel_leave; NULL when there is none. */
gyre_kernel *gyre_kernel_visit(gyre_runtime *runtime, const char *name);
/** Kernels of a device (NULL: of all), kept from being freed until gyre_kernel_leave; NULL without memory. */
gyre_kernel **gyre_kernels_visit(gyre_runtime *runtime, const struct gyre_dispatch *dispatch, size_t *count);
/** The same under runtime->lock. */
gyre_kernel **gyre_kernels_visit_locked(gyre_runtime *runtime, const struct gyre_dispatch *dispatch,
                                        size_t *count);
/** The same for the first `room` kernels of all, without allocating; how many there are. */
size_t gyre_kernels_visit_some(gyre_runtime *runtime, gyre_kernel **out, size_t room);
void gyre_kernel_leave(gyre_kernel *kernel);

/**
 * Waits until no handler of the kernel runs that ran before the call. Takes the lock. TIMEOUT when one does
 * not come back within stop_timeout_ms.
 */
gyre_status gyre_kernel_await_boundary(gyre_kernel *kernel);

/* handles.c: buffers that messages name. */

/** Writes the table of a kernel anew: before others can see it, and after addresses changed. */
void gyre_handles_refresh(gyre_kernel *kernel);
/** Takes a buffer's name back and waits until no handler uses it: TIMEOUT when one may. */
gyre_status gyre_handles_withdraw(gyre_buffer *buffer);
/** A handler of this kernel does not return: no buffer that it may have by name is ever freed. */
void gyre_handles_keep(const gyre_kernel *kernel);
/** Asks the device again where its named buffers are. */
void gyre_handles_relocate(gyre_runtime *runtime, const struct gyre_dispatch *dispatch);

/* recovery.c */

/** Watches over a device in a worker process: from now on its kernels are brought back when that dies. */
void gyre_recovery_watch(struct gyre_open_device *device);

/* buffer.c */

/** Frees the buffers of a runtime without kernels; those of a kernel that stayed behind stay with it. */
void gyre_buffers_close(gyre_runtime *runtime);
gyre_status gyre_memory_fill_zero(struct gyre_dispatch *dispatch, gyre_memory *memory, uint64_t size);

/* Shorthands for the sections of this kernel and queue. */
static inline int64_t gyre_kernel_setting(const gyre_kernel *kernel, const char *key)
{
    return gyre_config_int(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, key);
}

#endif
