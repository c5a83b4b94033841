/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gyre for applications: open a runtime, launch kernels, exchange messages with them.
 *
 *     gyre_runtime *runtime;
 *     gyre_kernel *kernel;
 *     gyre_open(NULL, &runtime);
 *     gyre_launch_desc desc = {.size = sizeof desc, .source = "add.gyre.c"};
 *     gyre_launch(runtime, &desc, &kernel);
 *     gyre_queue *queue = gyre_kernel_queue(kernel);
 *     gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, gyre_in_ms(100));
 *     gyre_close(runtime);
 *
 * Every function that returns a gyre_status leaves a sentence for the calling thread when it is not GYRE_OK:
 * gyre_error_text(). Deadlines are absolute nanoseconds of CLOCK_MONOTONIC (gyre_in_ms makes one); GYRE_NO_WAIT never
 * waits, GYRE_FOREVER never gives up. Threads: any function from any thread, unless it says otherwise; an object must
 * not be used after, or concurrently with, the call that destroys it. Destroying a runtime destroys everything that it
 * owns. After a fork, objects that the parent opened belong to the parent: in the child calls on them fail and say so,
 * and destroying them does nothing; the child may open a runtime of its own.
 *
 * A queue that is configured with `threads = one` has no locks: then one thread at a time sends, one
 * receives, and no other thread may end the kernel or the queue meanwhile (gyre_kernel_terminate, _relaunch,
 * _release, gyre_queue_close, gyre_close): a message that is being sent at that moment would be lost. Debug
 * builds of Gyre (CMAKE_BUILD_TYPE=Debug, the asan preset) notice two threads at once in one side of such a
 * queue and close it: its calls then return INVALID and say why.
 *
 * Descriptors start with their size (`.size = sizeof(...)`); members left zero take their defaults, which come from the
 * configuration. Infos start with their size as well: it stays as the caller set it, and bytes beyond it are not
 * touched. Stability: source-compatible within a major version, before 1.0 within a minor one.
 */
#ifndef GYRE_GYRE_H
#define GYRE_GYRE_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/header.h"
#include "gyre/message.h"
#include "gyre/status.h"
#include "gyre/version.h"

#if defined(__GNUC__)
#define GYRE_API __attribute__((visibility("default")))
#else
#define GYRE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gyre_runtime gyre_runtime; /* configuration, backends, devices */
typedef struct gyre_kernel gyre_kernel;   /* a launched kernel */
typedef struct gyre_queue gyre_queue;     /* a request/reply queue of a kernel */
typedef struct gyre_buffer gyre_buffer;   /* memory on a device */

#define GYRE_NO_WAIT UINT64_C(0)
#define GYRE_FOREVER UINT64_MAX

/** The version of the library in use, "0.1.0"; GYRE_VERSION_TEXT is the version of this header. */
GYRE_API const char *gyre_version(void);

/** Returns the deadline that lies `milliseconds` ms in the future. */
GYRE_API uint64_t gyre_in_ms(uint64_t milliseconds);
/** The present time, on the clock of deadlines. */
GYRE_API uint64_t gyre_now_ns(void);

/** Why the calling thread's last failing call failed; "" when none did. Valid until the thread's next call. */
GYRE_API const char *gyre_error_text(void);
/** Returns the status as a word: "timeout" for GYRE_TIMEOUT. */
GYRE_API const char *gyre_status_word(gyre_status status);

/* ---- messages with tails (message.h, parts.h) ---- */

/**
 * Puts `count` items behind the contents of a begun message (NULL: zeroed items, to be written through gyre_items).
 * *part, a field of the message or of an item in its tail, then says where they are; with a `count` of 0 that the part
 * is empty. INVALID when the items do not fit, when the message was not begun, or when the part lies elsewhere; the
 * message stays as it was.
 *
 *     gyre_put(&message, &message.prices, prices, 3)
 */
#define gyre_put(message, part, items, count)                                                                \
    gyre_message_put((message), sizeof(*(message)), (part), (items), sizeof(*(items)), (count))
GYRE_API gyre_status gyre_message_put(void *message, size_t size, gyre_part *part, const void *items,
                                      size_t item_size, size_t count);

/**
 * Does what gyre_put does, for items that need not fit into the message. The message gets only their name (32 bytes);
 * the caller keeps the items unchanged in its memory until the message was sent. The send moves the items into memory
 * of the device, so the message has to go to a queue with `span_handles` (docs/configuration.md); sent elsewhere it
 * fails (GYRE_FAILURE_BUFFER).
 *
 *     gyre_put_large(&message, &message.prices, prices, 1000000)
 */
#define gyre_put_large(message, part, items, count)                                                          \
    gyre_message_put_large((message), sizeof(*(message)), (part), (items), sizeof(*(items)), (count))
GYRE_API gyre_status gyre_message_put_large(void *message, size_t size, gyre_part *part, const void *items,
                                            size_t item_size, size_t count);

/** gyre_put with the characters of a NUL-terminated text; INVALID also when it is not UTF-8. */
#define gyre_put_text(message, part, text)                                                                   \
    gyre_message_put_text((message), sizeof(*(message)), (part), (text))
GYRE_API gyre_status gyre_message_put_text(void *message, size_t size, gyre_part *part, const char *text);

/**
 * Whether a message of `length` bytes is well formed: every part lies in it, aligned, none over another. INVALID and
 * the field otherwise. A request was checked before its handler sees it. A host that reads replies with gyre_items
 * needs no check either, because gyre_items gives NULL for a malformed part.
 */
GYRE_API gyre_status gyre_message_check(const gyre_type *type, const void *message, size_t length);

/* ---- runtime ---- */

typedef struct gyre_open_desc {
    size_t size;
    const char *config_path; /* as --config; NULL: GYRE_CONFIG, else none beyond the usual places */
    const char *const
        *settings;       /* NULL-terminated "section.key=value" or "key=value" of [gyre]; beat everything */
    const char *backend; /* shorthand for the setting gyre.backend */
    /** Receives log lines; NULL: discarded. May be called from any thread; must not call Gyre. level: 1 error
     * .. 4 debug */
    void (*log)(void *context, int level, const char *text);
    void *log_context;
} gyre_open_desc;

/**
 * Reads the configuration and finds the plugins; opens no device yet. `desc` may be NULL.
 * CONFIG when a file or setting is wrong. Owner of *out: the caller, until gyre_close.
 */
GYRE_API gyre_status gyre_open(const gyre_open_desc *desc, gyre_runtime **out);

/** Terminates every kernel without draining and frees everything that the runtime owns. Accepts NULL. */
GYRE_API void gyre_close(gyre_runtime *runtime);

/** Which backend a launch would run on, and why that backend and no other. */
typedef struct gyre_backend_choice {
    size_t size;
    char name[32];
    char why[1024]; /* a sentence for people, which also names backends that cannot start */
} gyre_backend_choice;

/** Chooses a backend as gyre_launch does (NULL: as configured) without opening a device. May probe plugins. */
GYRE_API gyre_status gyre_backend_choose(gyre_runtime *runtime, const char *backend,
                                         gyre_backend_choice *out);

/* ---- kernels ---- */

/** A device buffer bound to a kernel by the name that the kernel's GYRE_BUFFERS gave it. */
typedef struct gyre_binding_name {
    const char *name;
    gyre_buffer *buffer;
} gyre_binding_name;

typedef struct gyre_launch_desc {
    size_t size;
    const char *source;  /* "FILE.gyre.c", "FILE.gyre.c:KERNEL" or a file that `gyre compile -o` wrote */
    const char *kernel;  /* the kernel of the file; NULL: the only one, or as `source` says */
    const char *name;    /* the name it is listed and configured by ([kernel.NAME]); NULL: the kernel's own */
    const char *backend; /* NULL: as configured */
    uint32_t device;     /* ordinal on the backend */
    uint32_t lanes, blocks; /* 0: as configured, else the backend's choice */
    int start_inactive;     /* 1: launched, but serves its queues only after gyre_kernel_activate */
    /* GYRE_TYPE(...) of the messages that the caller sends and receives; fields may be appended to either side's type;
     * NULL: unchecked */
    const gyre_type *request, *reply;
    const void *state; /* initial actor state, NULL: zero bytes; a journal's state goes first */
    size_t state_size; /* must be the size of the kernel's state type */
    const gyre_binding_name *bindings; /* every buffer of the kernel, in any order */
    size_t binding_count;
    int stage; /* what a pipeline needs of it: enum gyre_launch_stage in gyre/pipeline.h; 0: it is no stage */
} gyre_launch_desc;

/**
 * Compiles (or takes from the cache), loads and launches a kernel, with one queue (gyre_kernel_queue). CONFIG when a
 * setting of the kernel or the queue does not fit the kernel or another setting, or names no source that is there. Owner of *out: the caller, until
 * gyre_kernel_release, or gyre_close.
 */
GYRE_API gyre_status gyre_launch(gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_kernel **out);

/** Makes the kernel serve its queues again. Returns when all blocks do, or TIMEOUT. No effect on an active kernel. */
GYRE_API gyre_status gyre_kernel_activate(gyre_kernel *kernel, uint64_t deadline_ns);

/**
 * Stops the kernel at the next message boundary and keeps queued requests. Sends are accepted while there is room.
 * Returns when all blocks stopped, or TIMEOUT (the blocks still stop later). A terminate by another thread ends the
 * wait with CLOSED.
 */
GYRE_API gyre_status gyre_kernel_deactivate(gyre_kernel *kernel, uint64_t deadline_ns);

/**
 * Refuses further sends, lets the kernel work off queued requests until `drain_deadline_ns` (GYRE_NO_WAIT: not at all),
 * then stops it at the next message boundary. Requests left over are completed as GYRE_OUTCOME_UNHANDLED and counted in
 * *unhandled (may be NULL); receivers still get every completion. TIMEOUT when a handler did not come back within the
 * configured stop_timeout_ms after that: the kernel then stays in the state "stopping". It also stays there when its
 * device cannot be asked; the call then returns that failure's status. Several threads may terminate at once: the
 * earliest deadline holds, and all get the same answer.
 */
GYRE_API gyre_status gyre_kernel_terminate(gyre_kernel *kernel, uint64_t drain_deadline_ns,
                                           uint64_t *unhandled);

/**
 * Launches a terminated kernel again, with its initial state, its queues and their unread completions.
 * NOT_FOUND when a buffer that it binds was freed meanwhile.
 */
GYRE_API gyre_status gyre_kernel_relaunch(gyre_kernel *kernel);

/**
 * Frees the kernel: terminates it without draining when needed, and closes its queues. Threads that wait in a call on
 * it or its queues return first. When a handler does not return within stop_timeout_ms, the memory that it may still
 * touch stays allocated, and the log says so. Accepts NULL.
 */
GYRE_API void gyre_kernel_release(gyre_kernel *kernel);

typedef enum gyre_kernel_state {
    GYRE_KERNEL_ACTIVE = 1,
    GYRE_KERNEL_INACTIVE = 2,
    GYRE_KERNEL_STOPPING = 3,
    GYRE_KERNEL_TERMINATED = 4,
    GYRE_KERNEL_LOST = 5
} gyre_kernel_state;

/** How a kernel, or a block of it, fares. */
typedef enum gyre_kernel_health {
    GYRE_HEALTH_IDLE = 1,    /* every request is answered */
    GYRE_HEALTH_BUSY = 2,    /* some requests are unanswered */
    GYRE_HEALTH_STALLED = 3, /* a handler runs for longer than handler_budget_ms, or than stall_told_ms */
    GYRE_HEALTH_DEAD = 4     /* nobody works for it: terminated, lost, or its worker is being replaced */
} gyre_kernel_health;

typedef struct gyre_kernel_info {
    size_t size;
    char name[64], kernel[64], backend[32], device[128];
    gyre_kernel_state state;
    uint32_t lanes, blocks, queues;
    uint64_t handled, failed; /* since launch: messages that the device completed; failed messages */
    uint64_t queued;          /* accepted and not completed */
    uint64_t launched_ns;     /* when, on the clock of deadlines */
    uint32_t cache_hit;       /* 1: the compiled kernel came from the disk cache */
    const gyre_type *request, *reply, *state_type; /* valid until the kernel is released */
    /* How often the kernel left its device for a moment since launch, and for how long: another kernel was loaded or
     * freed there, or its stay is bounded. Messages wait meanwhile. */
    uint64_t absences, absent_ns, longest_absence_ns;
    /* With isolation = process: workers of this kernel that died since launch, and requests that were completed as
     * failed because their handler took a worker down each time. */
    uint32_t restarts, condemned;
    uint32_t stalls;           /* how often a handler was found to run for too long since launch */
    gyre_kernel_health health; /* now */
    uint32_t relaunches; /* how often it was launched again because it, or another of its group, was lost */
    /* With checkpoints: how many were taken since launch; how long the handler was paused for the last one, and for the
     * longest; requests that were handled once more after a crash (`handled` counts them too). */
    uint64_t checkpoints, checkpoint_ns, longest_checkpoint_ns, replayed;
    /* With the kernel's setting `timing`: how many stays on the device have ended, and how long they took, by events of
     * the device before and behind each stay; 0 where a backend has no such events. */
    uint64_t stays, stayed_ns, longest_stay_ns;
    uint32_t standby; /* 1: a worker stands by that is ready to take over (the backend's setting `standby`) */
} gyre_kernel_info;
/** Tells how a kernel fares: fills in the members of *info that its size covers. INVALID when that size is not set. */
GYRE_API gyre_status gyre_kernel_info_get(const gyre_kernel *kernel, gyre_kernel_info *info);
/** The health of one block, as the block and its device report it. */
typedef struct gyre_block_info {
    size_t size;
    gyre_kernel_health health; /* idle: at no message; busy, stalled: at one; the kernel's where tells is 0 */
    uint32_t tells;            /* 1: the backend says for each block whether it is at a message */
    uint64_t handled, failed;  /* messages since launch, or since its worker was replaced */
    uint64_t heartbeat;        /* grows with each message that the block finishes */
    uint64_t still_ns;         /* how long no watcher saw the block change; 0: nobody watches */
} gyre_block_info;

/** Reads the health of a block. INVALID for a block that is not there. */
GYRE_API gyre_status gyre_kernel_block_get(gyre_kernel *kernel, uint32_t block, gyre_block_info *info);
/** Fills up to `capacity` handles, in order of launch, and returns how many kernels there are. */
GYRE_API size_t gyre_kernels(gyre_runtime *runtime, gyre_kernel **out, size_t capacity);
/** Returns the kernel with that name, or NULL. */
GYRE_API gyre_kernel *gyre_kernel_find(gyre_runtime *runtime, const char *name);
/** The health as a word: "idle", "busy", "stalled", "dead". */
GYRE_API const char *gyre_kernel_health_word(gyre_kernel_health health);
/** The state as a word: "active", "inactive", ... */
GYRE_API const char *gyre_kernel_state_word(gyre_kernel_state state);
/**
 * Copies the kernel's state, which its handler keeps between messages, into `state`. A running kernel stands at a
 * message boundary during the copy and then goes on. So the copy has the work of whole messages only, and of every
 * message that was answered before the call. INVALID unless `size` is the state's size, TIMEOUT when a handler does not
 * return within stop_timeout_ms, LOST when the state was lost with its device.
 */
GYRE_API gyre_status gyre_kernel_state_read(gyre_kernel *kernel, void *state, size_t size);

/**
 * Takes a checkpoint now: returns when a checkpoint covers every request that was handled before the call. INVALID for
 * a kernel without checkpoints, CLOSED when the kernel does not run, TIMEOUT when a handler does not return.
 */
GYRE_API gyre_status gyre_kernel_checkpoint(gyre_kernel *kernel, uint64_t deadline_ns);

/* ---- queues ---- */

typedef enum gyre_full_policy {
    GYRE_FULL_DEFAULT = 0, /* as configured; built in: block */
    /* Senders wait for room until their deadlines and get it in the order of waiting; for each place given in order, at
     * most one place goes to a sender that came later. While others wait, a batch takes at most half of the room, and a
     * send that does not wait may get AGAIN although a place is free: it is kept for a waiting sender. */
    GYRE_FULL_BLOCK = 1,
    /* GYRE_AGAIN at once. While several threads are refused, a thread that got room after others were refused is itself
     * refused once, even if there is room: the place is left to the others. */
    GYRE_FULL_REJECT = 2,
    /* Discards the oldest message that was not received yet, and counts it. If no handler took that message up yet, the
     * device has to pass over it, and the send waits for that. After AGAIN or TIMEOUT nothing was discarded for this
     * send, except a message that the device had begun to pass over: its place is free for the next send. */
    GYRE_FULL_DROP_OLDEST = 3,
    GYRE_FULL_DROP_NEWEST = 4 /* GYRE_DROPPED: the new message is discarded and counted */
} gyre_full_policy;

typedef enum gyre_idle_strategy {
    GYRE_WAIT_DEFAULT = 0, /* as configured; built in: adaptive */
    GYRE_WAIT_SPIN = 1,
    GYRE_WAIT_YIELD = 2,
    GYRE_WAIT_ADAPTIVE = 3, /* spin, then yield, then park */
    GYRE_WAIT_PARK = 4
} gyre_idle_strategy;

typedef struct gyre_queue_desc {
    size_t size;
    const char *name;  /* [queue.NAME] configures it; NULL: unnamed, [queue.default] */
    uint64_t capacity; /* slots, a power of two; 0: as configured */
    gyre_full_policy policy;
    gyre_idle_strategy idle;          /* how this side waits */
    uint64_t first_sequence;          /* where indices start, up to INT64_MAX; for tests near a wrap */
    const gyre_type *request, *reply; /* the types that the caller sends and receives; NULL: unchecked */
} gyre_queue_desc;

/**
 * Opens one more queue into a kernel, also while it runs. Several producers are fastest with a queue each. Owner of
 * *out: the caller, until gyre_queue_close, or the kernel's release.
 */
GYRE_API gyre_status gyre_queue_open(gyre_kernel *kernel, const gyre_queue_desc *desc, gyre_queue **out);

/**
 * Detaches the queue from its kernel. Requests and replies in it are lost to the caller. Accepts NULL. A ring of shards
 * stays open, and gyre_error_text and the log say so: gyre_shards_close closes all of them. As with free(), the behaviour
 * is undefined when the queue is used or closed again afterwards, and when the pointer is no queue.
 */
GYRE_API void gyre_queue_close(gyre_queue *queue);

/** Returns the queue that gyre_launch opened. */
GYRE_API gyre_queue *gyre_kernel_queue(gyre_kernel *kernel);
/** Returns the open queue with that name, or NULL. */
GYRE_API gyre_queue *gyre_queue_find(gyre_kernel *kernel, const char *name);

/** How a request ended; numbers as in ring_layout.h. */
typedef enum gyre_completion_outcome {
    GYRE_REPLIED = 1,
    GYRE_NOT_REPLIED = 2,
    GYRE_HANDLER_FAILED = 3,
    GYRE_WAS_DROPPED = 4,
    GYRE_WAS_UNHANDLED = 5
} gyre_completion_outcome;

/** The completion of one request: how it ended. */
typedef struct gyre_completion {
    uint64_t index; /* as gyre_send reported it */
    gyre_completion_outcome outcome;
    int32_t failure_code;  /* with GYRE_HANDLER_FAILED, else 0 */
    uint32_t length;       /* bytes of reply */
    char failure_text[44]; /* with GYRE_HANDLER_FAILED, else "" */
} gyre_completion;

/**
 * Sends one request; `size` must be the size of the kernel's request type. If the type has a tail, only the bytes in
 * use travel, and `size` may be as small as those. In every call a request of gyre_none may be NULL, with size 0.
 * Returns when the request is in the queue; *index (may be NULL) is its number. When the queue is full, its policy
 * decides: AGAIN, TIMEOUT or DROPPED. CLOSED after terminate.
 */
GYRE_API gyre_status gyre_send(gyre_queue *queue, const void *request, size_t size, uint64_t *index,
                               uint64_t deadline_ns);

/**
 * Sends up to `count` requests that lie `size` bytes apart; *sent tells how many were accepted, also on
 * failure. Returns as soon as some were accepted and there is no room for more; waits only while none was.
 */
GYRE_API gyre_status gyre_send_batch(gyre_queue *queue, const void *requests, size_t size, size_t count,
                                     size_t *sent, uint64_t deadline_ns);

/**
 * Receives the next completion, in the order of the sends. The reply, if any, is copied to `reply`; INVALID when it is
 * longer than `size` (nothing is consumed then). AGAIN or TIMEOUT when no completion came; CLOSED or LOST when none
 * will come any more, also to a caller that does not wait. `completion` may be NULL only if every request is replied
 * to: a failure then returns FAILED with the handler's text.
 */
GYRE_API gyre_status gyre_receive(gyre_queue *queue, void *reply, size_t size, gyre_completion *completion,
                                  uint64_t deadline_ns);

/**
 * Receives up to `count` completions: replies `size` bytes apart, completions in an array (may be NULL as
 * above). Never waits for the batch to fill: returns as soon as one is there.
 */
GYRE_API gyre_status gyre_receive_batch(gyre_queue *queue, void *replies, size_t size, size_t count,
                                        gyre_completion *completions, size_t *received, uint64_t deadline_ns);

/**
 * Request and reply in one: sends, waits for this request's own completion and copies the reply. Any number of threads
 * may call on one queue at once, beside senders and receivers. `completion` may be NULL: then FAILED tells a failure.
 * After a TIMEOUT the reply is discarded when it comes. When a call fails, completion->index is the number of the
 * request that was sent and not answered (TIMEOUT, LOST, CLOSED), with 0 as its outcome; UINT64_MAX: nothing was sent.
 */
GYRE_API gyre_status gyre_call(gyre_queue *queue, const void *request, size_t request_size, void *reply,
                               size_t reply_size, gyre_completion *completion, uint64_t deadline_ns);

/* ---- kernels with handlers for several types (GYRE_PROTOCOL, message.h) ---- */

/**
 * Sends a request of one of the kernel's types: GYRE_TYPE(deposit). INVALID when the kernel has no handler for the
 * type, INCOMPATIBLE when the type differs from the kernel's type of that name. gyre_send takes such messages as well,
 * as the struct that GYRE_PROTOCOL declares for them (desk_request), and gyre_receive gives desk_reply.
 */
GYRE_API gyre_status gyre_send_as(gyre_queue *queue, const gyre_type *type, const void *request, size_t size,
                                  uint64_t *index, uint64_t deadline_ns);
/** Does what gyre_send_as does, with a header as in gyre_send_with. */
GYRE_API gyre_status gyre_send_as_with(gyre_queue *queue, const gyre_type *type, const void *request,
                                       size_t size, const gyre_header *header, uint64_t *index,
                                       uint64_t deadline_ns);
/**
 * Sends a batch as gyre_send_batch does, of requests of one type, `size` bytes apart. Waits for room for the first
 * request only.
 */
GYRE_API gyre_status gyre_send_batch_as(gyre_queue *queue, const gyre_type *type, const void *requests,
                                        size_t size, size_t count, size_t *sent, uint64_t deadline_ns);
/** Does what gyre_send_batch_as does, with a header for each request as in gyre_send_batch_with. */
GYRE_API gyre_status gyre_send_batch_as_with(gyre_queue *queue, const gyre_type *type, const void *requests,
                                             size_t size, const gyre_header *headers, size_t count,
                                             size_t *sent, uint64_t deadline_ns);
/**
 * Finds the reply of a known type in the `length` bytes at `message` that gyre_receive or gyre_peek gave: *reply, a
 * pointer to the type or to void, points into them. INCOMPATIBLE when they are a reply of another type.
 *
 *     const balance *found;
 *     gyre_reply_as(queue, &answer, completion.length, GYRE_TYPE(balance), &found, &size);
 */
GYRE_API gyre_status gyre_reply_as(const gyre_queue *queue, const void *message, size_t length,
                                   const gyre_type *type, void *reply, size_t *size);
/* `reply` has to point to a pointer: anything else is an error of compilation. */
#define gyre_reply_as(queue, message, length, type, reply, size)                                             \
    gyre_reply_as((queue), (message), (length), (type), ((void)sizeof(*(reply) ? 1 : 0), (reply)), (size))
/**
 * Request and reply in one, as gyre_call; `request` and `reply` are whole structs of their types. With a NULL reply
 * type, `reply` is NULL as well, and a request that is not replied to counts as a success.
 */
GYRE_API gyre_status gyre_call_as(gyre_queue *queue, const gyre_type *type, const void *request,
                                  const gyre_type *reply_type, void *reply, gyre_completion *completion,
                                  uint64_t deadline_ns);

/**
 * Zero-copy send: gives the address where the caller writes the next `*count` requests (in: wanted, out: granted, at
 * least 1), `*stride` bytes apart; a request with a tail starts with gyre_begin. Other senders wait until gyre_commit
 * publishes the first `count` of them.
 */
GYRE_API gyre_status gyre_reserve(gyre_queue *queue, void **requests, size_t *stride, size_t *count,
                                  uint64_t deadline_ns);
/**
 * Reserves one request of at most `size` bytes, for messages with tails: a queue that stores messages back to back
 * (docs/configuration.md, `layout`) sets aside no more than that. gyre_commit(queue, 1) publishes the request that
 * gyre_begin and gyre_put built there. They know only the type's size, so the caller itself keeps within `size`.
 */
GYRE_API gyre_status gyre_reserve_sized(gyre_queue *queue, size_t size, void **request, uint64_t deadline_ns);
/** Publishes the first `count` (0: none) reserved requests and ends the reservation. Called by the reserving thread. */
GYRE_API gyre_status gyre_commit(gyre_queue *queue, size_t count);

/** A completion that the receiver reads where it lies in the ring. */
typedef struct gyre_view {
    const void *reply; /* valid until gyre_release_views; aligned to 16 bytes */
    uint64_t index;
    gyre_completion_outcome outcome;
    uint32_t length;
} gyre_view;

/**
 * Zero-copy receive: gives up to `count` completions that have arrived, in order; *found tells how many. Other
 * receivers wait until gyre_release_views returns the first `count` of them to the queue. The `reply` of a failure is a
 * gyre_failure (ring_layout.h). Views of an attached queue lie in memory that its server can write.
 */
GYRE_API gyre_status gyre_peek(gyre_queue *queue, gyre_view *views, size_t count, size_t *found,
                               uint64_t deadline_ns);
/** Gives back the first `count` (0: none) peeked completions and ends the peek. The thread that peeked calls it. */
GYRE_API gyre_status gyre_release_views(gyre_queue *queue, size_t count);

/**
 * For event loops: a descriptor that polls readable while completions wait for gyre_receive, and once none will come
 * any more (receivers then get CLOSED or LOST). Replies to threads in gyre_call do not make it readable. It belongs to
 * the queue: do not close or read it. The first call starts one thread that watches the queue.
 */
GYRE_API gyre_status gyre_queue_descriptor(gyre_queue *queue, int *descriptor);

/* ---- several queues at once ---- */

/** The events of a queue that a caller may wait for; each is a bit of gyre_wish.wants and .ready. */
typedef enum gyre_wish_bits {
    GYRE_WISH_COMPLETION = 1, /* gyre_receive would get one, if no other receiver is quicker */
    GYRE_WISH_ROOM =
        2, /* gyre_send would find room for one (the smallest) request, if no other sender is quicker */
    /* Only in .ready, whatever was wanted: it will not come, because the kernel was terminated or lost or the queue is
     * being closed. gyre_receive and gyre_send say which: CLOSED or LOST. */
    GYRE_WISH_ENDED = 4
} gyre_wish_bits;

/** A queue, and the events that the caller waits for there. An element of arrays, so its size never changes. */
typedef struct gyre_wish {
    gyre_queue *queue; /* NULL: the element is passed over */
    uint32_t wants;    /* GYRE_WISH_COMPLETION, GYRE_WISH_ROOM or both */
    uint32_t ready;    /* out: the wanted bits that hold, or GYRE_WISH_ENDED */
    void *context;     /* the caller's own; Gyre does not look at it */
} gyre_wish;

/**
 * Waits until a wish for one of the queues is fulfilled, and says so in the .ready of each element; *ready (may be
 * NULL) is the number of fulfilled elements. The queues may belong to several kernels, devices, backends and runtimes,
 * and may be attached ones. AGAIN or TIMEOUT when no wish is fulfilled. When another thread closes one of the queues,
 * the wait ends (GYRE_WISH_ENDED), and its element must not be used again. The first queue's `idle` says how to wait.
 * With more than 63 queues, and where a device rings no bell, a sleeping wait looks again every millisecond at most.
 */
GYRE_API gyre_status gyre_wait_any(gyre_wish *wishes, size_t count, size_t *ready, uint64_t deadline_ns);

typedef struct gyre_queue_set gyre_queue_set; /* queues that one event loop waits for */

/** An empty set. Owner of *out: the caller, until gyre_queue_set_destroy. It may hold queues of several runtimes. */
GYRE_API gyre_status gyre_queue_set_create(gyre_queue_set **out);
/** Closes the set's descriptor; its queues stay open. Accepts NULL. */
GYRE_API void gyre_queue_set_destroy(gyre_queue_set *set);
/** Puts the queue of a wish into the set, or replaces its wish if it is there. A queue that is closed leaves its sets. */
GYRE_API gyre_status gyre_queue_set_add(gyre_queue_set *set, const gyre_wish *wish);
/** Takes the queue out of the set. NOT_FOUND when it is not in the set. */
GYRE_API gyre_status gyre_queue_set_remove(gyre_queue_set *set, gyre_queue *queue);
/**
 * gyre_wait_any for the queues of a set: writes up to `capacity` fulfilled wishes, and their number to *count. Queues
 * for which there was no place come first in the next call. An empty set waits as well, because another thread may add
 * a queue.
 */
GYRE_API gyre_status gyre_queue_set_wait(gyre_queue_set *set, gyre_wish *wishes, size_t capacity,
                                         size_t *count, uint64_t deadline_ns);
/**
 * A descriptor that becomes readable when a wish of the set is fulfilled, and stays readable until gyre_queue_set_wait
 * finds no fulfilled wish: an event loop that sees it readable calls gyre_queue_set_wait with GYRE_NO_WAIT, and again
 * while that returns OK. The descriptor belongs to the set: do not close or read it. The first call starts one thread,
 * whatever the number of queues.
 */
GYRE_API gyre_status gyre_queue_set_descriptor(gyre_queue_set *set, int *descriptor);

/* ---- headers (header.h): for queues whose section of the configuration has `header` ---- */

/** A message's header and times, beside its payload. */
typedef struct gyre_message_info {
    size_t size;
    uint32_t header_size; /* bytes of `header` that the queue keeps; the rest is 0 */
    gyre_header header;   /* the request's */
    /* When the request's handler began and ended, on the clock of deadlines, wrong by at most `time_error_ns`; 0 unless
     * `header` names started or finished, or the kernel is configured with `timing`. */
    uint64_t started_ns, finished_ns, time_error_ns;
} gyre_message_info;

/**
 * These are gyre_send, gyre_send_batch and gyre_call with headers, one for each request; NULL: as the queue fills them in.
 * INVALID when a field that is not 0 lies beyond the header of the queue, TIMEOUT when a header's deadline has passed;
 * nothing is sent then.
 */
GYRE_API gyre_status gyre_send_with(gyre_queue *queue, const void *request, size_t size,
                                    const gyre_header *header, uint64_t *index, uint64_t deadline_ns);
GYRE_API gyre_status gyre_send_batch_with(gyre_queue *queue, const void *requests, size_t size,
                                          const gyre_header *headers, size_t count, size_t *sent,
                                          uint64_t deadline_ns);
GYRE_API gyre_status gyre_call_with(gyre_queue *queue, const void *request, size_t request_size,
                                    const gyre_header *header, void *reply, size_t reply_size,
                                    gyre_completion *completion, gyre_message_info *info,
                                    uint64_t deadline_ns);
/**
 * Calls as gyre_call_as does, with a header. Also tells the request's header and times, as gyre_call_with does. `info`
 * may be NULL.
 */
GYRE_API gyre_status gyre_call_as_with(gyre_queue *queue, const gyre_type *type, const void *request,
                                       const gyre_header *header, const gyre_type *reply_type, void *reply,
                                       gyre_completion *completion, gyre_message_info *info,
                                       uint64_t deadline_ns);
/** Receives as gyre_receive does. Also tells the header and times of the completed request. `info` may be NULL. */
GYRE_API gyre_status gyre_receive_with(gyre_queue *queue, void *reply, size_t size,
                                       gyre_completion *completion, gyre_message_info *info,
                                       uint64_t deadline_ns);
/**
 * Receives the completion of the request with this correlation, in or out of turn; if several have it, that of the
 * request that was sent first. NOT_FOUND when no request with it is under way, or receivers took its completion. Others
 * receive the rest in order. A completion that is taken out of turn keeps its place in the ring until all completions
 * before it were received. So while nobody takes the oldest reply, senders find no room after a while; in a queue with
 * levels messages then stay in front of the ring, and a wait for one of them ends with TIMEOUT.
 */
GYRE_API gyre_status gyre_receive_for(gyre_queue *queue, uint64_t correlation, void *reply, size_t size,
                                      gyre_completion *completion, gyre_message_info *info,
                                      uint64_t deadline_ns);
/** Sets the header of reserved request `number`, counted from 0. Called between gyre_reserve and gyre_commit. */
GYRE_API gyre_status gyre_reserve_header(gyre_queue *queue, size_t number, const gyre_header *header);

/** A dead letter: a request that no handler will handle any more. `code` is a GYRE_FAILURE_... of ring_layout.h. */
typedef struct gyre_dead_letter {
    size_t size;
    uint64_t index;  /* the request's number */
    int32_t code;    /* expired, crashed its handler's process each time, or damaged */
    uint32_t length; /* bytes of the request */
    char reason[44];
    uint32_t header_size;
    gyre_header header;
    uint64_t buried_ns; /* when, on the clock of deadlines */
} gyre_dead_letter;

/**
 * Takes the oldest dead letter of a queue and copies its request; INVALID when the request is longer than `size` (the
 * letter stays). A message becomes a dead letter when its failed completion is received. AGAIN or TIMEOUT when there is
 * none. Dead letters stay until they are taken or the queue is closed.
 */
GYRE_API gyre_status gyre_dead_letter_take(gyre_queue *queue, gyre_dead_letter *letter, void *request,
                                           size_t size, uint64_t deadline_ns);

typedef struct gyre_queue_stats {
    size_t size;
    uint64_t capacity, request_size, reply_size, region_size;
    /* Messages accepted; completions taken by receivers and callers, except for dropped messages. A completion that is
     * taken before its turn counts once all completions before it were taken. */
    uint64_t sent, received;
    uint64_t rejected;  /* sends that found the queue full and were told so (AGAIN, TIMEOUT) */
    uint64_t dropped;   /* messages discarded by a policy, either end */
    uint64_t abandoned; /* replies that came after their caller's deadline */
    /* The most places of the ring that were ever taken at once. A message's place is free once the message and all
     * before it were received, so this may exceed the number of callers that have one message each under way. */
    uint64_t high_water;
    uint64_t send_waits, receive_waits; /* calls that had to wait */
    /* With the kernel's setting `timing`: messages that times stand for, and their total time from the send to the handler, in the handler,
     * and from the handler's end to the receiver. Each is timed whose turn it is by `timing_every`. From 64 on messages that come fast are
     * passed over: the next one that is timed counts for them too, so the last ones of a stream count when another one is timed. */
    uint64_t timed, waited_ns, handled_ns, returned_ns;
    uint64_t duplicates; /* sends refused because a message of that id was sent before */
    uint64_t waiting;    /* messages of a queue with levels that are not in its ring yet */
    uint64_t dead_letters, dead_letters_lost; /* all there were; those given up as too many were kept */
    /* With span_handles: spans that travelled in memory of the device, and bytes of that memory in use now. */
    uint64_t spans_moved, spans_bytes;
} gyre_queue_stats;
/** Tells the counts of a queue: fills in the members of *stats that its size covers. INVALID when that size is not set. */
GYRE_API gyre_status gyre_queue_stats_get(const gyre_queue *queue, gyre_queue_stats *stats);

/** When a message passed its stations, on the clock of deadlines. */
typedef struct gyre_timing {
    size_t size;
    uint64_t sent_ns;
    uint64_t started_ns, finished_ns; /* its handler, on the device */
    uint64_t received_ns;
    /* The largest error of `started_ns` and `finished_ns`. The device's clock is compared with this one by the
     * messages themselves, because each is sent before it is handled and received afterwards. */
    uint64_t error_ns;
} gyre_timing;

/**
 * Tells when request `index` was sent, handled and received. The times are kept from the receipt of the completion
 * until `capacity` later requests were sent. INVALID unless the kernel is configured with `timing`; AGAIN when the
 * completion was not received, or too long ago; UNAVAILABLE when no handler noted a time: the request was dropped or
 * left unhandled, it is not its turn by `timing_every`, it was passed over because messages come too fast to time as many (with
 * `timing_every` of 64 or more), or the kernel is compiled without timing.
 */
GYRE_API gyre_status gyre_timing_get(const gyre_queue *queue, uint64_t index, gyre_timing *timing);

/* ---- durable queues ---- */

/** How far a request has come. */
typedef enum gyre_acknowledgement {
    GYRE_ACCEPTED = 1,     /* it is in the queue; a send that returns OK says as much */
    GYRE_PROCESSED = 2,    /* its completion is there */
    GYRE_CHECKPOINTED = 3, /* a checkpoint covers it: it is not handled again, whatever its worker does */
    GYRE_DURABLE = 4       /* it is in the journal, as `fsync` of its queue says: it outlives the program */
} gyre_acknowledgement;

/**
 * Waits until request `index` has come as far as `level`. INVALID when it was not sent, when its kernel has no
 * checkpoints or its queue no journal for that level, or when its queue has levels of priority; TIMEOUT, CLOSED, LOST.
 */
GYRE_API gyre_status gyre_await(gyre_queue *queue, uint64_t index, gyre_acknowledgement level,
                                uint64_t deadline_ns);

/**
 * Does what gyre_send and gyre_await do, in one call. After a failure of the wait *index (may be NULL) is still set. A level
 * that no request of the queue can reach is refused before anything is sent.
 */
GYRE_API gyre_status gyre_send_until(gyre_queue *queue, const void *request, size_t size, uint64_t *index,
                                     gyre_acknowledgement level, uint64_t deadline_ns);

/** Does what gyre_send_as and gyre_await do, in one call, as gyre_send_until. */
GYRE_API gyre_status gyre_send_as_until(gyre_queue *queue, const gyre_type *type, const void *request,
                                        size_t size, uint64_t *index, gyre_acknowledgement level,
                                        uint64_t deadline_ns);

/**
 * The requests of an earlier run of the program that a queue with a journal (durability = journal) found there; or
 * those of an earlier client of the same name, for a client that attached by its name (gyre_attach).
 */
typedef struct gyre_recovered {
    size_t size;
    uint64_t first;   /* the first request whose completion was not taken before; numbering goes on */
    uint64_t offered; /* how many from `first` on are completed, perhaps for the second time: receive them */
    /* 0 unless the journal was damaged or cut (even if exactly behind a record). At least lost_bytes bytes behind its
     * last whole record are lost. Requests from lost_first on are lost; if lost_end is larger, it is the number after
     * the last request that was seen behind the damage. */
    uint64_t lost_bytes, lost_first, lost_end;
} gyre_recovered;
/** Tells what the queue found in its journal when it was opened. INVALID for a queue that has no journal. */
GYRE_API gyre_status gyre_queue_recovered(const gyre_queue *queue, gyre_recovered *recovered);

/* ---- the registry of types ---- */

/**
 * A runtime knows the message types of the kernels that it launched, the types inside these, the types of their
 * protocols, and types that were added or loaded. Types stay until the runtime is closed; two different types of one
 * name are both kept.
 */
GYRE_API gyre_status gyre_type_add(gyre_runtime *runtime, const gyre_type *type);
/**
 * Adds the types of a kernel file, of a file that `gyre compile -o` wrote, or of a header. The backend (NULL: as
 * configured) compiles a kernel file or a header for that; nothing is launched.
 */
GYRE_API gyre_status gyre_types_load(gyre_runtime *runtime, const char *backend, const char *file);
/** Fills up to `capacity` types, in the order in which they became known, and returns how many there are. */
GYRE_API size_t gyre_types(gyre_runtime *runtime, const gyre_type **out, size_t capacity);
/** The type of that name that became known last; NULL when there is none: gyre_error_text then has the nearest name. */
GYRE_API const gyre_type *gyre_type_find(gyre_runtime *runtime, const char *name);
/** Returns the type with that id (gyre_type_info), or NULL. */
GYRE_API const gyre_type *gyre_type_find_id(gyre_runtime *runtime, uint64_t id);

typedef struct gyre_type_info {
    size_t size;
    uint64_t id; /* the layout hash: equal for types whose fields have equal names, types and offsets */
    uint64_t bytes, least;    /* size of the largest message, and of one with an empty tail */
    uint32_t fields, choices; /* `choices`: how many types a protocol's message has to choose from */
    uint64_t slot_bytes;      /* bytes of its slot in a queue, each way; 0: it cannot be sent alone */
} gyre_type_info;
/** Describes a type: fills in the members of *info that its size covers. INVALID when that size is not set. */
GYRE_API gyre_status gyre_type_info_get(const gyre_type *type, gyre_type_info *info);

/* ---- device buffers ---- */

/** Allocates zeroed memory on the device that a launch with this backend (NULL: as configured) and ordinal uses. */
GYRE_API gyre_status gyre_buffer_alloc(gyre_runtime *runtime, const char *backend, uint32_t device,
                                       uint64_t size, gyre_buffer **out);
/**
 * INVALID (and nothing happens) while a kernel that is not terminated has the buffer bound. When messages may name it
 * (gyre_buffer_handle), such messages fail from now on, and the call waits until each handler of the device stands at a
 * message boundary: TIMEOUT when a handler does not within its stop_timeout_ms. The buffer then still exists, bound to
 * the same kernels, and the caller frees it later. Accepts NULL.
 */
GYRE_API gyre_status gyre_buffer_free(gyre_buffer *buffer);
/** These copy bytes of the caller to and from a buffer, and set bytes of it. INVALID beyond the buffer's end. */
GYRE_API gyre_status gyre_buffer_upload(gyre_buffer *buffer, uint64_t offset, const void *source,
                                        uint64_t size);
GYRE_API gyre_status gyre_buffer_download(const gyre_buffer *buffer, uint64_t offset, void *target,
                                          uint64_t size);
GYRE_API gyre_status gyre_buffer_fill(gyre_buffer *buffer, uint64_t offset, uint8_t byte, uint64_t size);
/**
 * Copies from one buffer to another of the same device, within the device where its backend can. A handler that uses
 * the buffers meanwhile may see a part of the copy, as with an upload. INVALID: the same buffer twice, buffers of two
 * devices, or bytes beyond one of them.
 */
GYRE_API gyre_status gyre_buffer_copy(gyre_buffer *target, uint64_t target_offset, const gyre_buffer *source,
                                      uint64_t source_offset, uint64_t size);
/** Returns the buffer's bytes, as gyre_buffer_alloc was asked for; 0 for NULL. */
GYRE_API uint64_t gyre_buffer_size(const gyre_buffer *buffer);
/**
 * Makes the name of a part of the buffer (size 0: all from `offset` on) for a field of type gyre_handle: any kernel on
 * the buffer's device, and no other, may then reach it through a message (gyre_open in kernel.h). INVALID when the part
 * does not lie in the buffer; EXHAUSTED when 1024 buffers of the device have names; UNIMPLEMENTED on a backend whose
 * buffers messages cannot name; AGAIN while the buffer moves to another device with its kernel.
 */
GYRE_API gyre_status gyre_buffer_handle(gyre_buffer *buffer, uint64_t offset, uint64_t size,
                                        gyre_handle *out);
/**
 * Makes *part, a span or text of a begun message, the `count` items of the buffer from item `first` on: only their name
 * travels, and a handler on the buffer's device reads them like any others. On another device, and after the buffer was
 * freed or its device was opened anew, the handler is not called; the message fails (GYRE_FAILURE_BUFFER). The caller
 * keeps the buffer's bytes as they are until the completion is there. Fails as gyre_buffer_handle and gyre_put.
 *
 *     gyre_put_buffer(f64, &message, &message.prices, buffer, 0, 1000000)
 */
#define gyre_put_buffer(type, message, part, buffer, first, count)                                           \
    gyre_message_put_buffer((message), sizeof(*(message)), (part), (buffer), sizeof(type), (first), (count))
GYRE_API gyre_status gyre_message_put_buffer(void *message, size_t size, gyre_part *part, gyre_buffer *buffer,
                                             size_t item_size, uint64_t first, uint32_t count);
/**
 * Copies `count` items of a part of a received message, from item `first` on, wherever they lie: in the message, or in
 * a buffer that its handler named (gyre_new_in in kernel.h). INVALID when the part has fewer items, or the buffer was
 * freed or is too small. `queue` is the queue that the message came from.
 *
 *     gyre_fetch(queue, f64, &reply, reply.prices, 0, prices, reply.prices.count)
 */
#define gyre_fetch(queue, type, message, part, first, items, count)                                          \
    gyre_message_fetch((queue), (message), sizeof(*(message)), (part), sizeof(type), (first), (items),       \
                       (count))
GYRE_API gyre_status gyre_message_fetch(gyre_queue *queue, const void *message, size_t size, gyre_part part,
                                        size_t item_size, uint64_t first, void *items, size_t count);

#ifdef __cplusplus
}
#endif
#endif
