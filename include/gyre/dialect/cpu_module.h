/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the CPU backend and a kernel file that was compiled for the CPU. Included by dialect/c11.h (so
 * by every kernel compiled as C11), by backends/cpu, and by other backends that load such files.
 *
 * Stability: none between versions; both sides compare GYRE_CPU_MODULE_VERSION, which is part of the cache key.
 */
#ifndef GYRE_DIALECT_CPU_MODULE_H
#define GYRE_DIALECT_CPU_MODULE_H

#include "gyre/message.h"
#include "gyre/ring_layout.h"

#define GYRE_CPU_MODULE_VERSION 14

struct gyre_context;

/** The access that a handler compiled with checks was about to make. */
#define GYRE_CPU_COUNT_UNKNOWN (~(gyre_u64)0)
#define GYRE_CPU_COUNT_NULL    (~(gyre_u64)0 - 1)

typedef struct gyre_cpu_fault {
    const char *file; /* NULL: `at` says where the access is */
    const void *at;   /* an instruction of the handler */
    /* the name of the indexed array or buffer; NULL: the source has it at file, line and column */
    const char *name;
    const char *type; /* the type of an unnamed array, as its compiler writes it */
    gyre_u32 line, column;
    gyre_i64 index;
    /* how many items the array or buffer has; GYRE_CPU_COUNT_UNKNOWN: `index` counts from its end; GYRE_CPU_COUNT_NULL: the access is
       through NULL, and `index` counts bytes */
    gyre_u64 count;
    gyre_i32 code; /* GYRE_FAILURE_* */
} gyre_cpu_fault;

/** The backend's functions for a running handler. */
typedef struct gyre_cpu_services {
    /** Returns when all lanes of the block arrived; `place` (file:line) tells divergent barriers apart. */
    void (*barrier)(struct gyre_context *context, const char *place);
    /** Returns when all blocks arrived. Each lane calls it, after all lanes of its block have met at a barrier. */
    void (*grid_barrier)(struct gyre_context *context, const char *place);
    /** Memory shared by the lanes of a block: one 8-byte cell a lane and one more. */
    gyre_u64 *(*cells)(struct gyre_context *context);
    void (*log)(struct gyre_context *context, const char *text, gyre_i64 value);
    gyre_u64 (*time_ns)(void);
    /** Fails the message with a sentence about the fault. Only files compiled with GYRE_CHECKED_INDICES call it. */
    void (*index_out_of_range)(struct gyre_context *context, const gyre_cpu_fault *fault);
} gyre_cpu_services;

/**
 * Where the messages of a port go: places that follow each other in a ring. The backend fills it in before it calls the
 * handler, and takes the messages from there afterwards.
 */
typedef struct gyre_cpu_port {
    /*
     * slot 0; the payload is GYRE_SLOT_HEADER_SIZE bytes behind it. Of a port that asks: where slot 0 would begin if its payload
     * had no gyre_link_ask in front
     */
    unsigned char *slots;
    gyre_u64 next, mask;    /* the first place is that of index `next` & `mask` */
    gyre_u32 stride;        /* bytes from slot to slot */
    gyre_u32 most, emitted; /* messages that the call may emit, and has emitted */
    gyre_u32 again; /* of the first port: how many lanes ask to be called again with the same message */
} gyre_cpu_port;

/** A port as its kernel declares it. */
typedef struct gyre_cpu_port_type {
    const char *name;
    const gyre_type *type;
    gyre_u32 most;
    gyre_u32 least;         /* bytes of a message with an empty tail */
    const gyre_type *reply; /* of a port that asks: the type of its answers; NULL: it does not */
} gyre_cpu_port_type;

/** One lane's view of its launch. The handler reaches it as `gyre`. */
typedef struct gyre_context {
    gyre_u32 lane, lane_count, block, block_count;
    gyre_i32 fail_code;
    gyre_u32 failed;
    const char *fail_text;
    const gyre_cpu_services *services;
    void *owner;                        /* for the backend */
    const gyre_control_handle *handles; /* buffers that messages may name; NULL: none may */
    const unsigned char *header;        /* the current message's header; NULL: it has none */
    gyre_u32 header_size;
    /* not 0: the reply, or a message that is emitted, goes to another program: bytes that the handler does not write are zero */
    gyre_u32 foreign;
    gyre_cpu_port *ports; /* as many as the kernel declares, the same for all lanes of a block */
    gyre_u64 origin;      /* the current message's GYRE_ORIGIN_... (link_layout.h); 0: it came by a queue */
    gyre_u64 flow;        /* a number of the current message's flow that no other flow of its pipeline has */
    gyre_u32 forgets;     /* of a keyed actor: the message's key leaves when its handler has returned */
    gyre_u32 reminds;     /* of a keyed actor: GYRE_REMINDS_... (keyed_reminders.h) */
    gyre_u32
        by_sent; /* reminders go by the times at which messages were sent (gyre_control_command.by_ticks) */
    gyre_i64 remind_at_ns;
    gyre_i64
        from_ns; /* what gyre_remind counts from: when the reminder was due that is handled; 0: the clock */
    gyre_i64 next_due_ns; /* no key of the block is due before; 0: nobody looked yet */
    gyre_u32 turn;        /* how often the handler was called with the current message before */
    gyre_u32 memory_size; /* bytes of `memory` */
    void *memory;         /* of the current message's flow at this kernel (GYRE_FLOW) */
    gyre_u32 token;       /* of the current message, if it is an answer to this kernel's ask; else 0 */
} gyre_context;

/** A bound buffer: GYRE_BUFFERS structs are arrays of these. */
typedef struct gyre_binding {
    void *data;
    gyre_u64 count;
} gyre_binding;

/** Handles one message, in any form of kernel. Returns an outcome. */
typedef int (*gyre_cpu_handle)(const void *request, void *reply, void *state, void *scratch,
                               const gyre_binding *buffers, gyre_context *context);

/** The sizes of a kernel's message types, and of messages with an empty tail. */
typedef struct gyre_cpu_sizes {
    gyre_u32 request, request_least, reply, reply_least;
} gyre_cpu_sizes;

/** A worker's view of the rings of bytes of a bridged queue (gyre_bridge in ring_layout.h). */
typedef struct gyre_cpu_bridge {
    const unsigned char *requests; /* NULL: requests lie in their slots */
    unsigned char *replies;        /* this worker's track; NULL: replies lie in their slots */
    unsigned char *spare;
    const gyre_u64 *tail, *received; /* words that the client writes */
    gyre_u64 head, tail_seen;        /* where the next reply goes, and a tail that was read before */
    gyre_u32 request_bytes, reply_bytes, track;
} gyre_cpu_bridge;

/** A worker's memory for other programs' messages that exceed a line (gyre_queue_slots.foreign). */
typedef struct gyre_cpu_stage {
    unsigned char *request, *reply; /* as large as the message types */
    gyre_u32 filled;                /* bytes of `request` that may differ from 0 */
} gyre_cpu_stage;

/**
 * How often a worker looks at the clock for the messages of a queue, where few of them are timed (GYRE_PACED_FROM in c11.h). Two looks cost as
 * much as four messages of a stream.
 */
typedef struct gyre_cpu_pace {
    gyre_u64 looked_ns; /* when the message that was timed last had been handled; 0: none was */
    gyre_u32 pass,
        passed; /* of the messages whose turn it is: so many in a row are passed over, one less than a power of two, and how many were */
} gyre_cpu_pace;

/** The argument of a runner, which handles consecutive ready requests of a lane kernel or actor. */
typedef struct gyre_cpu_run {
    const unsigned char *requests;
    unsigned char *replies;
    gyre_u64 mask;
    gyre_u64 first, limit; /* at most `limit` requests from index `first` on */
    gyre_u32 request_stride, reply_stride;
    const gyre_queue_host *host;
    const gyre_u64 *command; /* the runner returns after a message when this is no longer `expected` */
    gyre_u64 expected;
    void *state;
    const gyre_binding *buffers;
    gyre_context *context;
    gyre_u64 failed;               /* incremented for each failed message */
    gyre_stamp *stamps;            /* of slot 0; NULL: messages are not timed */
    const unsigned char *headers;  /* of slot 0; NULL: messages have no headers */
    const gyre_u32 *request_seals; /* of slot 0; NULL: messages have no checksums */
    gyre_u32 *reply_seals;
    gyre_u32 header_size;
    gyre_cpu_bridge *bridge; /* NULL: every message lies in its slot */
    gyre_u32 foreign;        /* GYRE_FOREIGN_* */
    gyre_cpu_stage *stage;   /* for queues with GYRE_FOREIGN_RING */
    gyre_cpu_pace pace;
} gyre_cpu_run;

/** A runner: handles requests and returns how many it completed. */
typedef gyre_u64 (*gyre_cpu_runner)(gyre_cpu_run *run);

/** A kernel of the file; pointers to these structs fill the section "gyre_kernels". */
typedef struct gyre_cpu_kernel {
    gyre_u32 version;
    gyre_u32 form; /* gyre_form */
    const char *name;
    const gyre_type *request, *reply, *state;
    gyre_cpu_sizes sizes;
    gyre_u64 scratch_size, scratch_alignment;
    const char *buffers;
    const gyre_type *const *buffer_types;
    gyre_cpu_handle handle;
    gyre_cpu_runner run; /* NULL for block kernels, and for kernels with ports */
    const gyre_cpu_port_type *ports;
    gyre_u32 port_count;
    const char *key; /* of a keyed actor: a field of the request, and where it lies there; else NULL */
    gyre_u32 key_offset, key_size;
    /* of a keyed actor whose keys are reminded: gyre_keyed_fire_ (c11_keyed.h); else NULL */
    int (*remind)(void *table, gyre_context *context, gyre_u64 now_ns);
    const gyre_u32 *
        flow_size; /* bytes of memory of a flow (GYRE_FLOW); NULL: none. Such a kernel is not called by `run` */
    const char *file;
    gyre_u32 line;
} gyre_cpu_kernel;

/** The bounds of the file's sections, which the exported function GYRE_CPU_MODULE_SYMBOL returns. */
typedef struct gyre_cpu_module {
    gyre_u32 version;
    const gyre_cpu_kernel *const *first, *const *end;
    const char *const *first_query, *const *end_query; /* names of types that GYRE_QUERY handles */
} gyre_cpu_module;
#define GYRE_CPU_MODULE_SYMBOL "gyre_cpu_module_table"

#endif
