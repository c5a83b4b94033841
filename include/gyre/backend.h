/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend ABI: the exports of a plugin `gyre-<name>.so`, and the services that the core gives it. For backend
 * authors.
 *
 * A plugin exports one symbol, the constant `gyre_plugin`. The core reads and judges it before it
 * calls any code of the plugin. The table is flat and typed; slots are in life-cycle order.
 *
 * Vocabulary of the contract line above each slot:
 *   required | optional since MAJOR.MINOR (then also what the core does when the operation is absent: NULL, or beyond `size`)
 *   threads: any | one per device | one per object. The core serialises calls that are not `any`.
 *   blocks: no | bounded (by the deadline given, or by the work itself).
 * Rules for all: an operation that fails returns a status and has said why through host->error; its `*out` is NULL. A
 * destroy operation accepts NULL. Strings and descriptors are borrowed for the call. Every struct that crosses the
 * boundary starts with its size, set by the core: in a descriptor the bytes that the core filled, in an info the bytes
 * that it has room for. The other bytes of an info are zero. A plugin reads and writes nothing beyond that size.
 * Deadlines are absolute nanoseconds of CLOCK_MONOTONIC; UINT64_MAX is none.
 *
 * Stability: additions bump GYRE_ABI_MINOR, everything else GYRE_ABI_MAJOR. A plugin runs with a core of the
 * same major version and the same or a newer minor version.
 */
#ifndef GYRE_BACKEND_H
#define GYRE_BACKEND_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gyre/link_layout.h"
#include "gyre/message.h"
#include "gyre/ring_layout.h"
#include "gyre/status.h"
#include "gyre/trace.h"
#include "gyre/version.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GYRE_ABI_MAGIC 0x45525947u /* "GYRE" */
#define GYRE_ABI_MAJOR 2
#define GYRE_ABI_MINOR 11

typedef struct gyre_device gyre_device;             /* a backend's: one opened device */
typedef struct gyre_module gyre_module;             /* a backend's: one loaded kernel file */
typedef struct gyre_queue_memory gyre_queue_memory; /* a backend's: a queue's region, visible to a device */
typedef struct gyre_memory gyre_memory;             /* a backend's: a device buffer */
typedef struct gyre_resident gyre_resident;         /* a backend's: a launched kernel */

/* ---- what the core gives a plugin ---- */

typedef enum gyre_log_level {
    GYRE_LOG_ERROR = 1,
    GYRE_LOG_WARNING = 2,
    GYRE_LOG_INFO = 3,
    GYRE_LOG_DEBUG = 4
} gyre_log_level;

/** A program to run as a child. There is no shell, and its standard input is empty. */
typedef struct gyre_program_desc {
    size_t size;
    const char *const *arguments; /* NULL-terminated; [0] is looked up in PATH */
    const char *directory;        /* working directory, NULL: the caller's */
    uint64_t deadline_ns;         /* at this time the child and its process group are killed */
    char *output;                 /* receives stdout and stderr, NUL-terminated and cut; NULL: discarded */
    size_t output_size;
} gyre_program_desc;

/** The core's services. Threads: any, for all of them. Valid until the plugin's last device is closed. */
typedef struct gyre_host {
    size_t size;
    void *context;
    /** Puts a sentence on the calling thread's error stack; returns `status`. */
    gyre_status (*error)(gyre_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
    /** Sends a line to the application's log. `context` is the host's. */
    void (*log)(void *context, gyre_log_level level, const char *text);
    /**
     * Runs a program to its end. OK with its exit code in *exit_code; NOT_FOUND when there is no such program; TIMEOUT
     * when it was killed at the deadline; FAILED when a signal ended it.
     */
    gyre_status (*run_program)(const gyre_program_desc *desc, int *exit_code);
    /**
     * Opens a library by dlopen with RTLD_NOW | RTLD_LOCAL. On failure the error sentence has the loader's words. The
     * status is UNAVAILABLE, or EXHAUSTED when these words say that this process lacks memory or descriptors; a probe
     * should answer with the same status.
     */
    gyre_status (*library_open)(const char *path, void **out);
    gyre_status (*library_symbol)(void *library, const char *name, void **out);
    void (*library_close)(void *library);
    /** Returns the name among `names` that is nearest to a mistyped name, or NULL. */
    const char *(*nearest)(const char *typed, const char *const *names, size_t count);
    uint64_t (*now_ns)(void);
} gyre_host;

/** A key of the backend's section of the configuration. */
typedef struct gyre_parameter {
    const char *key, *value;
    const char *origin; /* file:line, variable or "default": for messages */
} gyre_parameter;

/* ---- descriptors ---- */

typedef struct gyre_probe_desc {
    size_t size;
    const gyre_host *host;
    const gyre_parameter *parameters;
    size_t parameter_count;
} gyre_probe_desc;

typedef struct gyre_probe_info {
    size_t size;
    int score; /* how good this backend is on this machine; higher wins among `auto` candidates. cpu: 10 */
    uint32_t device_count; /* at least 1 when OK */
    char library[256];     /* the vendor's library in use and its version; "" when none */
    char summary[256];     /* one line for people */
    char fingerprint[128]; /* the driver's identity (its version, ...), for people */
    /*
     * The things outside the plugin and its parameters that the verdict depends on, even a verdict "no": absolute
     * paths of files, present or absent, and environment variables as $NAME, separated by ':'. The core forgets a
     * remembered verdict when one of them changes, and after every boot. It also forgets a verdict "no" when a file
     * appears in a folder of LD_LIBRARY_PATH. It forgets EXHAUSTED, AGAIN, TIMEOUT and LOST after ten minutes, because
     * their causes may pass.
     */
    char watch[512];
    /*
     * Sentences for people in addition to the verdict, separated by "; ": which devices or libraries were passed over,
     * and why. `gyre backends` shows them.
     */
    char notes[2048];
} gyre_probe_info;

typedef struct gyre_device_desc {
    size_t size;
    const gyre_host *host; /* outlives the device */
    const gyre_parameter *parameters;
    size_t parameter_count;
    uint32_t ordinal;
    /*
     * since 2.2: not 0: this process opens this device, which the probe found, and no other device of the backend. A
     * driver whose start takes longer with every device that it sees need not see the others.
     */
    uint32_t alone;
} gyre_device_desc;

/** How a device serves queues whose messages are stored back to back (gyre_bridge in ring_layout.h). */
typedef enum gyre_bridging {
    GYRE_BRIDGING_NONE = 0,
    GYRE_BRIDGING_QUEUE = 1, /* each queue has one track (part of the reply bytes) */
    GYRE_BRIDGING_BLOCK = 2  /* each block has a track in each queue */
} gyre_bridging;

/** How a device links kernels (link_layout.h): bits. */
enum gyre_linking {
    GYRE_LINKING_YES = 1,
    /* since 2.6: entries may be of other programs (gyre_flow.busy, copies of headers), and have seals and stamps */
    GYRE_LINKING_FOREIGN = 2,
    /* since 2.6: queues of a kernel that can be a stage have no gyre_bridge and no express lines */
    GYRE_LINKING_SLOTS = 4,
    /* since 2.7: ports may lead to topics (GYRE_PORT_TOPIC) */
    GYRE_LINKING_TOPICS = 8,
    /*
     * since 2.7: threads of this process move the messages, one for each kernel, so links lie in memory of this process
     * (their addresses are those of the host), and a kernel sends and takes as one block does, whatever blocks it has
     */
    GYRE_LINKING_HOST = 16,
    /* since 2.8: threads of this process fill the rings of topics, also those of programs (gyre_link_branch.is_client) */
    GYRE_LINKING_CLIENTS = 32,
    /* since 2.8: links may form cycles, and pipelines have a window and a quota (gyre_flow_head) */
    GYRE_LINKING_CYCLES = 64,
    /* since 2.8: the blocks of a kernel share the messages of a link by key (gyre_link_ring.share) */
    GYRE_LINKING_KEYS = 128,
    /* since 2.9: kernels have the words GYRE_MORE, gyre_turn and GYRE_FLOW */
    GYRE_LINKING_WORDS = 256,
    /* since 2.9: ports may ask (gyre_link_ring.talk), and kernels have the word gyre_token. Such links are cycles, too */
    GYRE_LINKING_ASKS = 512,
    /* since 2.9: ports may lead to pools (GYRE_PORT_POOL) */
    GYRE_LINKING_POOLS = 1024,
    /*
     * since 2.10: threads of this process move the messages, and find links, flows, control regions and the queues of entries
     * (gyre_link_entry.region) by addresses of this process. So kernels of several such devices are stages of one pipeline
     */
    GYRE_LINKING_SHARED = 2048,
    /*
     * since 2.10: the device may be in a worker process. With GYRE_LINKING_SHARED: a queue's device address is where its region lies there,
     * the blocks pass over requests of entries that say GYRE_REQUEST_ANSWERED, and gyre_control_block.working says which flow a handler is
     * at (GYRE_WORKING_FLOW). Else links and flows lie in memory of queues (queue_alloc), and no block sees a request that was answered
     */
    GYRE_LINKING_WORKER = 4096,
    /* since 2.10: pipelines have rounds (GYRE_TALK_ROUNDS), and kernels the word gyre_round */
    GYRE_LINKING_ROUNDS = 8192,
    /*
     * since 2.10: blocks take up another table of links between two messages and leave nothing behind that only the old one names, so
     * links come, lead elsewhere and go while the pipeline is open
     */
    GYRE_LINKING_CHANGES = 16384,
    /*
     * since 2.10: a subscriber may be a program (gyre_link_branch.is_client) whose rings lie in the device's memory, from where the core
     * copies. The kernel that sends is compiled with GYRE_LIMITED (gyre_kernel_record.is_unlimited is 0)
     */
    GYRE_LINKING_COPIES = 32768,
    /*
     * since 2.11: links have levels (gyre_link_ring.level): of the inlets of a kernel a block looks at those of the highest level first, and
     * of GYRE_LEVEL_TURNS runs that it takes one begins at the inlet whose turn it is, whatever its level
     */
    GYRE_LINKING_LEVELS = 65536,
    /* since 2.11: a link may lead to one of the types that its target takes (gyre_link_ring.choice) */
    GYRE_LINKING_CHOICES = 131072,
    /* since 2.11: blocks note when they send messages, and count how long these waited (gyre_link_ring.times) */
    GYRE_LINKING_TIMES = 262144,
    /*
     * since 2.11: links of cycles may be by key. A block takes the messages whose keys it owns out of such a ring (gyre_link_ring.run is not 0)
     * also while it has no room for what they cause, so that no message of a busy block holds up those behind it
     */
    GYRE_LINKING_KEY_CYCLES = 524288,
    /* since 2.11: what leads to a tap, and a member of a pool, has a level, too (GYRE_LINKING_LEVELS) */
    GYRE_LINKING_SIDE_LEVELS = 1048576
};

typedef struct gyre_device_info {
    size_t size;
    char name[128];
    /* part of the key of compiled kernels: devices with equal strings run each other's files */
    char architecture[64];
    char compiler[256]; /* the compiler that `compile` uses, with its identity; "": there is none */
    uint64_t memory_size;
    uint32_t unit_count;                    /* cores, multiprocessors, compute units */
    uint32_t lanes_max, blocks_max;         /* the most that one launch may have */
    uint32_t lanes_default, blocks_default; /* used when a launch says 0; an actor has one of each */
    uint32_t block_lane_multiple;           /* lanes work best as a multiple of this */
    uint64_t scratch_max;                   /* bytes of block scratch memory */
    uint32_t can_wake; /* 1: the device rings futex bells itself; 0: waiting clients poll */
    /* for people; "" when there is nothing to say */
    char details[512]; /* for people: capability, address, link, driver, identity */
    char limits[512];  /* for people: operations that the device lacks or has in part, and why */
    uint32_t can_skip; /* 1: the device passes over requests that say GYRE_REQUEST_ANSWERED */
    uint32_t bridging; /* a gyre_bridging: whether the device serves queues with a gyre_bridge */
    uint32_t can_seal; /* 1: the device checks the seals (checksums) of requests, and seals replies */
    /*
     * in place of blocks_default for lane kernels with messages of more than GYRE_SLOT_SMALL_PAYLOAD bytes, while the
     * device has room for many blocks; 0: blocks_default
     */
    uint32_t blocks_default_large;
    uint32_t knows_express; /* since 2.3: 1: the device reads and writes express lines (gyre_express_line) */
    /*
     * since 2.3: 1: the device's compiler runs in this process, and may end the process over a text that breaks the
     * dialect, so the core compiles a text only after it has passed the check; 0: compiler and check run at once,
     * which takes less time
     */
    uint32_t check_first;
    /*
     * since 2.3: a block kernel gets no more lanes than its largest message or scratch has words, and this many at least
     * (gyre_lanes_default); 0: lanes_default
     */
    uint32_t lanes_default_least;
    /*
     * since 2.3: bytes of requests, and as many bytes of replies, that a queue has room for when the device chooses
     * its size (gyre_slots_default): as much as is under way while one message goes to the device and back; 0: the
     * device is near
     */
    uint32_t queue_bytes_default;
    /* since 2.4: 1: the device does what gyre_queue_slots.foreign demands; 0: only trusted programs may attach */
    uint32_t knows_foreign;
    uint32_t
        knows_links; /* since 2.5: gyre_linking bits: how kernels of this device can be stages of a pipeline */
    uint32_t link_slots; /* since 2.7: slots of each ring of a link whose capacity Gyre chooses; 0: no wish */
} gyre_device_info;

/**
 * Answers device_info with `told`. The core may know fewer members than the plugin, or more. Members that both know
 * are copied, the size stays the core's, and members that only the core knows stay zero.
 */
static inline void gyre_device_info_give(gyre_device_info *info, const gyre_device_info *told)
{
    const size_t known = info->size;
    memcpy(info, told, known < sizeof *told ? known : sizeof *told);
    info->size = known;
}

/** A compile of one source unit into one file (the artifact). */
typedef struct gyre_compile_desc {
    size_t size;
    const char *unit_path; /* the generated translation unit; #line directives point to the user's file */
    const char *const *include_directories; /* NULL-terminated; the user's folder and Gyre's headers */
    const char *options;                    /* extra compiler options, separated by spaces; may be "" */
    const char *architecture;               /* NULL: the device's own */
    const char *artifact_path;   /* where the result goes; the backend writes it whole or not at all */
    const char *dependency_path; /* where to write the names of the files that were read, one path a line */
    uint64_t deadline_ns;
    char *messages; /* receives the compiler's own words, cut */
    size_t messages_size;
} gyre_compile_desc;

typedef struct gyre_module_desc {
    size_t size;
    const char *artifact_path;
    const void *artifact; /* the contents of the file, mapped: for backends that load from memory */
    size_t artifact_size;
} gyre_module_desc;

/** How a kernel wants its messages given to lanes. */
typedef enum gyre_form {
    GYRE_FORM_LANE = 1,  /* one message a lane; lanes are independent */
    GYRE_FORM_BLOCK = 2, /* all lanes of a block work on one message */
    GYRE_FORM_ACTOR = 3, /* one lane, one block: messages one after the other, state needs no atomics */
    /*
     * since 2.8: an actor for each key: messages of equal keys one after the other, each with the state of its key; other
     * keys in other blocks. The state of the launch is a gyre_keyed_table (keyed_layout.h).
     */
    GYRE_FORM_KEYED = 4,
    GYRE_FORM_GRID =
        5 /* since 2.11: all lanes of all blocks work on one message, and meet at grid barriers */
} gyre_form;

/** Whether the lanes of a block work together on a message, and share a scratch. */
static inline int gyre_form_shares(gyre_form form)
{
    return form == GYRE_FORM_BLOCK || form == GYRE_FORM_GRID;
}

/** A port: an output of a kernel, as its handler declares it. */
typedef struct gyre_port_record {
    const char *name;
    const gyre_type *type; /* of its messages */
    uint32_t most;         /* messages that one call may emit */
    uint32_t reserved;
} gyre_port_record;

/** A kernel of a module, as its compiler saw it. Pointers stay valid as long as the module. */
typedef struct gyre_kernel_record {
    size_t size;
    const char *name;
    gyre_form form;
    const gyre_type *request, *reply; /* never NULL; a reply of gyre_none: the kernel never replies */
    const gyre_type *state;           /* gyre_none when there is none */
    uint64_t scratch_size;            /* bytes of block scratch memory; 0 when there is none */
    const char *buffers; /* "in f32 weights;inout f32 ranks;" in binding order; "" when there are none */
    const gyre_type *const *buffer_types; /* the element type of each buffer, then NULL */
    uint32_t registers, spill_bytes;      /* 0 where the notion does not apply */
    uint32_t
        /* memory that a block of the default shape has to itself, including the backend's own */
        shared_bytes;
    /* blocks of the default shape that one unit (device_info.unit_count) holds; 0: not known */
    uint32_t blocks_per_unit;
    /*
     * since 2.4: "ask;look;": message types whose handlers change nothing that is kept (GYRE_QUERY), of this kernel
     * and perhaps of others; NULL: none
     */
    const char *queries;
    const gyre_port_record
        *ports; /* since 2.5: the kernel's ports, in the order of their declaration; NULL: none */
    uint32_t port_count;
    /* since 2.6: 1: the kernel was compiled without what a stage of a pipeline needs (GYRE_STAGE in kernel.h) */
    uint32_t is_island;
    /*
     * since 2.8: of GYRE_FORM_KEYED: the field of the request that is its key, "account" or "order.account"; NULL, from a
     * backend that does not know this form: the kernel cannot be launched there
     */
    const char *key;
    uint32_t flow_size; /* since 2.8: bytes of memory that each flow has at the kernel (GYRE_FLOW); 0: none */
    uint32_t reminds;   /* since 2.8: of GYRE_FORM_KEYED: 1: keys are reminded (GYRE_REMINDED) */
    /*
     * since 2.8: of each port, the type of the answers to its messages, NULL for one that does not ask (ASK in kernel.h); NULL:
     * no port does
     */
    const gyre_type *const *asks;
    /*
     * since 2.9: 1: the kernel was compiled without what a stage of a pipeline with a window or a quota needs (GYRE_LIMITED in
     * kernel.h)
     */
    uint32_t is_unlimited;
    /* since 2.10: 1: the kernel was compiled without what a stage of a pipeline whose kernels ask needs (GYRE_ASKS in kernel.h) */
    uint32_t is_unasked;
    /* since 2.10: 1: the kernel was compiled without what a member of a pool needs (GYRE_POOLS in kernel.h) */
    uint32_t is_poolless;
    /* since 2.11: of GYRE_FORM_GRID: the most blocks that the backend gives it; 0: as many as the device has */
    uint32_t grid_blocks_most;
    /* since 2.11: 1: the kernel was compiled without what a stage of a pipeline with rounds needs (GYRE_ROUNDS in kernel.h) */
    uint32_t is_roundless;
    /* since 2.11: 1: the kernel was compiled without what a stage needs whose links have levels (GYRE_LEVELS in kernel.h) */
    uint32_t is_flat;
    /* since 2.11: 1: the kernel was compiled without what takes messages of a port as one of its types (GYRE_CHOICES in kernel.h) */
    uint32_t is_choiceless;
} gyre_kernel_record;

/**
 * Returns the lanes of a launch that names no number; not for actors. A lane kernel gets `most`. A block kernel gets
 * one lane for each eight bytes of the largest of request, reply and scratch, in whole warps, from `least` to `most`:
 * all its lanes meet for each message, and more lanes make that slower.
 */
static inline uint32_t gyre_lanes_default(const gyre_kernel_record *record, uint32_t least, uint32_t most)
{
    enum { LANE_BYTES = 8, WARP = 32 };
    if (!gyre_form_shares(record->form) || least == 0)
        return most;
    uint64_t bytes =
        record->request->size > record->reply->size ? record->request->size : record->reply->size;
    bytes = record->scratch_size > bytes ? record->scratch_size : bytes;
    const uint64_t lanes = (bytes / LANE_BYTES + WARP - 1) / WARP * WARP;
    return lanes < least ? (least < most ? least : most) : lanes < most ? (uint32_t)lanes : most;
}

/**
 * Returns the number of slots, a power of two, of a queue whose size the device chooses: `bytes` is the device's
 * queue_bytes_default, `stride` the size of the queue's larger slot.
 */
static inline uint64_t gyre_slots_default(uint32_t bytes, uint32_t stride)
{
    uint64_t slots = 1024;
    while (slots * 2 * stride <= bytes)
        slots *= 2;
    return slots;
}

/** A queue's region. The core allocates and owns it, and shares it by a descriptor. */
typedef struct gyre_queue_memory_desc {
    size_t size;
    void *address; /* where the region lies in this process */
    size_t region_size;
    int descriptor; /* the memfd that holds the region */
} gyre_queue_memory_desc;

typedef enum gyre_transfer_kind {
    GYRE_TRANSFER_UPLOAD = 1,   /* host -> device */
    GYRE_TRANSFER_DOWNLOAD = 2, /* device -> host */
    GYRE_TRANSFER_FILL = 3      /* the byte `fill` -> device */
} gyre_transfer_kind;

/** A transfer between program and buffer. The core has checked its bounds. */
typedef struct gyre_transfer_desc {
    size_t size;
    gyre_transfer_kind kind;
    gyre_memory *memory;
    uint64_t offset, byte_count;
    const void *source; /* for an upload */
    void *target;       /* for a download */
    uint8_t fill;
} gyre_transfer_desc;

/** A copy from one buffer to another buffer of the same device. The core has checked its bounds. */
typedef struct gyre_copy_desc {
    size_t size;
    gyre_memory *source, *target;
    uint64_t source_offset, target_offset, byte_count;
} gyre_copy_desc;

typedef struct gyre_binding_desc {
    gyre_memory *memory;
    uint64_t offset, element_count;
} gyre_binding_desc;

typedef enum gyre_idle {
    GYRE_IDLE_ADAPTIVE = 0, /* spin, then yield, then park */
    GYRE_IDLE_SPIN = 1,
    GYRE_IDLE_YIELD = 2,
    GYRE_IDLE_PARK = 3
} gyre_idle;

/**
 * Work of the core that waits for the same messages as a kernel, and that the kernel's own threads may do between two looks
 * at its queues. Where threads outnumber processors this saves two switches between threads for each message. The core owns
 * it; it outlives the resident.
 */
typedef struct gyre_errand {
    uint32_t open; /* atomic: 1: a thread without messages, or between two batches, calls `run` */
    uint32_t
        looking; /* atomic: threads that run, look for messages, and call `run` while it is open; the device counts them */
    /** Does a little of the work and waits for nobody. Any thread of the kernel. Returns 1 when it did something. */
    int (*run)(struct gyre_errand *errand);
    /** Gives the work back to the core. Called while it is open, by the last thread of `looking`, which looks no more. */
    void (*leave)(struct gyre_errand *errand);
} gyre_errand;

typedef struct gyre_resident_desc {
    size_t size;
    gyre_control_region *control; /* owned by the core; zeroed, except `command` and the table of queues */
    size_t control_size;
    int control_descriptor;
    const char *kernel_name;
    uint32_t lanes, blocks;            /* already chosen and checked against device_info */
    gyre_memory *state;                /* the actor state, initialised; NULL when the kernel has none */
    const gyre_binding_desc *bindings; /* in the order of gyre_kernel_record.buffers */
    uint32_t binding_count;
    gyre_idle idle;
    uint32_t spin_turns; /* looks of GYRE_IDLE_ADAPTIVE before it yields */
    /** Called when a handler calls `gyre_log`; by any thread; must not block. */
    void (*kernel_log)(void *context, const char *text, int64_t value);
    void *kernel_log_context;
    gyre_errand *errand; /* since 2.7; NULL, or ignored by the device: threads of the core do the work */
    /* since 2.9; NULL, or ignored by the device: traces do not show which block handled a message (trace.h) */
    const gyre_trace_point *trace;
    /* since 2.11; 1: threads of the core call `help` for requests whose bell they do not ring; without `help`, ignored by the device */
    uint32_t helped;
} gyre_resident_desc;

/* ---- the table ---- */

typedef struct gyre_backend_ops {
    size_t size;

    /*
     * required   threads: one per plugin   blocks: bounded
     * Says whether this backend can start here, without leaving anything behind. The core calls it in a child process,
     * so it may crash. UNAVAILABLE when not, with a sentence that says what was looked for, where, and what to install.
     */
    gyre_status (*probe)(const gyre_probe_desc *desc, gyre_probe_info *info);

    /* required   threads: one per plugin   blocks: bounded   owner of *out: core, until device_close */
    gyre_status (*device_open)(const gyre_device_desc *desc, gyre_device **out);

    /* required threads: one per device blocks: bounded. All objects of the device were released before. */
    void (*device_close)(gyre_device *device);

    /* required threads: any blocks: no. `info` is zero except for its size: see gyre_device_info_give. */
    gyre_status (*device_info)(gyre_device *device, gyre_device_info *info);

    /*
     * required   threads: any   blocks: until desc->deadline_ns
     * Compiles one unit. FAILED with the compiler's first error (file:line: text) when the source is wrong,
     * UNAVAILABLE when there is no compiler, TIMEOUT at the deadline.
     */
    gyre_status (*compile)(gyre_device *device, const gyre_compile_desc *desc);

    /* required   threads: one per device   blocks: bounded   owner of *out: core, until module_release */
    gyre_status (*module_load)(gyre_device *device, const gyre_module_desc *desc, gyre_module **out);

    /* required   threads: any   blocks: no. NOT_FOUND past the last kernel: how the core counts them. */
    gyre_status (*module_kernel)(gyre_module *module, uint32_t index, gyre_kernel_record *record);

    /* required   threads: one per device   blocks: bounded */
    void (*module_release)(gyre_module *module);

    /*
     * required   threads: one per device   blocks: bounded   owner of *out: core, until queue_release
     * Makes a queue's region visible to the device and says at which address the device sees it: not 0, which
     * in the queue table means that there is no queue.
     */
    gyre_status (*queue_alloc)(gyre_device *device, const gyre_queue_memory_desc *desc,
                               gyre_queue_memory **out, uint64_t *device_address);

    /* required   threads: one per device   blocks: bounded. No resident kernel's table names it any more. */
    void (*queue_release)(gyre_queue_memory *memory);

    /* required   threads: one per device   blocks: bounded   owner of *out: core, until memory_release. Not
     * zeroed. */
    gyre_status (*memory_alloc)(gyre_device *device, uint64_t byte_count, gyre_memory **out);

    /* required   threads: one per device   blocks: bounded */
    void (*memory_release)(gyre_memory *memory);

    /* required   threads: one per device   blocks: until the data is there */
    gyre_status (*transfer)(gyre_device *device, const gyre_transfer_desc *desc);

    /*
     * required   threads: one per device   blocks: bounded   owner of *out: core, until `release`
     * Makes a kernel resident: it obeys desc->control from now on, and acknowledges the command it finds
     * there.
     */
    gyre_status (*launch)(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out);

    /*
     * required   threads: any   blocks: until deadline_ns
     * Waits until the kernel has left (after VERB_STOP or VERB_YIELD in its control region). TIMEOUT when it has not;
     * LOST with the reason when the device died. After any other status the core assumes that the kernel is still
     * there, and never frees it or the memory that it may touch.
     */
    gyre_status (*wait)(gyre_resident *resident, uint64_t deadline_ns);

    /*
     * optional since 2.0   threads: any   blocks: no
     * Called after every change of the control word, for devices that do not watch it. Absent: nothing is
     * done.
     */
    gyre_status (*notify)(gyre_resident *resident);

    /* required   threads: one per device   blocks: bounded. `wait` returned OK or LOST before. */
    void (*release)(gyre_resident *resident);

    /*
     * optional since 2.0   threads: any   blocks: no
     * A named table of further operations, constant while the device is open: "peers" (peer.h), "host_memory" (host_memory.h), "peek"
     * (peek.h).
     * UNIMPLEMENTED for another name or a later version. Absent: there is none.
     */
    gyre_status (*get_extension)(gyre_device *device, const char *name, uint32_t version, const void **out);

    /*
     * optional since 2.0   threads: any   blocks: no
     * Where the device finds the first byte of a buffer, as its dialect's gyre_open understands it: messages
     * may then name the buffer. Constant while the memory is there. Absent: messages name no buffers here.
     */
    gyre_status (*memory_address)(gyre_memory *memory, uint64_t *address);

    /*
     * optional since 2.1   threads: one per device   blocks: until the copy is made
     * Copies within the device. Kernels may run meanwhile; a kernel that uses the two buffers stands at a message
     * boundary, or may see a part of the copy, as with a transfer. Absent: a checkpoint pauses its kernel for as long as
     * a download takes, and gyre_buffer_copy goes through the host.
     */
    gyre_status (*memory_copy)(gyre_device *device, const gyre_copy_desc *desc);

    /*
     * optional since 2.11   threads: any   blocks: as long as handlers take
     * Handles what waits in the queues of a resident that was launched with `helped`, in the calling thread, which saves waking another one.
     * Returns at once when a thread of the device handles it just now, or when a command is to be obeyed: then the device looks at the
     * queues afterwards by itself. `wait` is not over as long as a handler runs here. UNIMPLEMENTED without a sentence: this resident cannot
     * be helped. Absent: as that; the core rings the bell.
     */
    gyre_status (*help)(gyre_resident *resident);
} gyre_backend_ops;

/** The exported constant. The first five members never move, in any version. */
typedef struct gyre_backend_plugin {
    uint32_t magic; /* GYRE_ABI_MAGIC */
    uint16_t abi_major, abi_minor;
    size_t size;       /* sizeof(gyre_backend_plugin) as the plugin was compiled */
    const char *name;  /* "cpu" */
    const char *build; /* version and build of the plugin, for people */
    const gyre_backend_ops *ops;
} gyre_backend_plugin;

#define GYRE_BACKEND_SYMBOL "gyre_plugin"
#if defined(__GNUC__)
#define GYRE_BACKEND_EXPORT __attribute__((visibility("default")))
#else
#define GYRE_BACKEND_EXPORT
#endif

/** The constant that a plugin defines. */
GYRE_BACKEND_EXPORT extern const gyre_backend_plugin gyre_plugin;

#ifdef __cplusplus
}
#endif
#endif
