/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between a resident CUDA kernel and its backend. Host C and CUDA C++ (NVRTC) share this text; kernel
 * authors never need it. The entry of kernel NAME is `gyre_resident_NAME(gyre_cuda_arguments)`.
 *
 * Block 0 watches one word of mapped host memory, `orders->order`, and not the core's control word. The backend raises
 * it whenever the core changed the control region. It also raises it to get all kernels of the context off the device
 * for a moment (GYRE_ORDER_LEAVE: loading, unloading and unregistering block while a kernel is resident). A kernel
 * that leaves keeps the position of each queue in `cursors`, so that its next launch goes on from there.
 *
 * Stability: private to the pair; both sides compare GYRE_DEVICE_MODULE_VERSION.
 */
#ifndef GYRE_DIALECT_CUDA_MODULE_H
#define GYRE_DIALECT_CUDA_MODULE_H

#include "gyre/dialect/device_module.h"

#define GYRE_CUDA_LANES_MAX 512 /* for lane kernels: leaves registers for many loads in flight */
/* for grid kernels: a barrier empties the multiprocessor's cache, and with it what lanes keep for lack of registers */
#define GYRE_CUDA_GRID_LANES_MAX 512
#define GYRE_CUDA_LOADS          8 /* 16-byte loads in flight of each thread */
/*
 * How many messages of an actor are fetched together: GYRE_ACTOR_WINDOW. If messages are small and are handled
 * quickly, up to GYRE_ACTOR_MOST, in GYRE_ACTOR_STAGE_SIZE bytes of shared memory.
 */
#define GYRE_ACTOR_WINDOW     32
#define GYRE_ACTOR_MOST       128
#define GYRE_ACTOR_STAGE_SIZE 24576

/*
 * Threads of a block of a keyed actor, which fetches a message for each thread at most, in this much shared memory if it has one block.
 */
#define GYRE_KEYED_THREADS    512
#define GYRE_KEYED_STAGE_SIZE 131072
/*
 * Most bytes of what the threads of a keyed actor share about a run (gyre_keyed_run_), which no message can have. In a stage of pipelines
 * they lie in front of the messages.
 */
#define GYRE_KEYED_RUN_MOST (22u << 10)

/*
 * A keyed actor of at least so many blocks, whose messages are lines, has blocks that route them and blocks that handle them
 * (cuda_keyed_routes.h), as long as the shared memory of each has room for some messages.
 */
#ifndef GYRE_KEYED_ROUTED_BLOCKS
#define GYRE_KEYED_ROUTED_BLOCKS 3
#endif
#define GYRE_KEYED_ROUTED_ROOM  128
#define GYRE_KEYED_ROUTERS_MOST 15
#define GYRE_KEYED_OWNERS_MOST  128
#define GYRE_KEYED_INLETS_MOST  32 /* rings of links from which messages are routed */

/*
 * How many messages of a block kernel are fetched together at most, and the bytes of shared memory that they may take.
 * A kernel with few blocks uses much shared memory in each; a kernel with many blocks uses little, so that more blocks
 * fit a multiprocessor.
 */
#define GYRE_BLOCK_WINDOW           32
#define GYRE_BLOCK_STAGE_SIZE       73728
#define GYRE_BLOCK_STAGE_SIZE_TIGHT 8192

/*
 * Threads of a worker. Lane kernels whose messages are larger than a line divide a block into workers, which never
 * wait for each other. Each worker has a hardware barrier. A block has 16 of these, and one is for the block as a
 * whole.
 */
#ifndef GYRE_CUDA_WORKER_SIZE
#define GYRE_CUDA_WORKER_SIZE 64
#endif
#define GYRE_CUDA_WORKER(threads)                                                                            \
    ((threads) > GYRE_CUDA_WORKER_SIZE && (threads) % GYRE_CUDA_WORKER_SIZE == 0 ? GYRE_CUDA_WORKER_SIZE : 32)
#define GYRE_CUDA_WORKERS_MAX 15
#if GYRE_CUDA_LANES_MAX > GYRE_CUDA_WORKER_SIZE * GYRE_CUDA_WORKERS_MAX
#error "GYRE_CUDA_WORKER_SIZE: a block would have more workers than barriers"
#endif

/*
 * Shared memory that a block has for its messages at least, on every device of an architecture (compute capability
 * times 10), or on all devices. A kernel decides by it where messages are staged.
 */
#ifdef GYRE_CUDA_ANY_DEVICE
#define GYRE_CUDA_ROOM(capability) (40u << 10)
#else
#define GYRE_CUDA_ROOM(capability)                                                                           \
    ((capability) == 750                          ? 40u << 10                                                \
     : (capability) == 800 || (capability) == 870 ? 144u << 10                                               \
     : (capability) >= 900 && (capability) < 1200 ? 208u << 10                                               \
                                                  : 80u << 10)
#endif
#define GYRE_CUDA_CHUNKS(size) ((GYRE_SLOT_HEADER_SIZE + (size) + 15) / 16)
/*
 * The chunks that a message takes in the stage. Request and reply lie side by side, so that the compiler sees how far
 * apart they are and moves loads before stores. The number is odd: threads that each walk one message then seldom use
 * the same bank.
 */
#define GYRE_CUDA_CELL(request_size, reply_size)                                                             \
    ((GYRE_CUDA_CHUNKS(request_size) + GYRE_CUDA_CHUNKS(reply_size)) | 1)
/*
 * The bytes from what one lane of a stage emits to what the next one does, where a call may emit `bytes`. Where that is much it is an
 * odd number of chunks: lanes that write their messages at the same time then use different banks.
 */
#define GYRE_CUDA_EMITS(bytes) ((bytes) >= 512 ? (bytes) | 16 : (bytes))
/*
 * Whether requests of this size are fetched in one piece for each run of neighbours in the ring, because each piece
 * costs extra time. For lane kernels and actors.
 */
#define GYRE_CUDA_DENSE(request_size) ((request_size) <= 1024)
#define GYRE_ORDER_LEAVE              1ull       /* the low bit of an order: leave, and acknowledge nothing */
#define GYRE_CUDA_STAGE_SIZE          (1u << 20) /* bytes of device memory a block has for messages beyond a line */

/** The orders for a kernel: one line of mapped host memory, written by the backend. */
typedef struct gyre_cuda_orders {
    gyre_u64 order;
    gyre_u64 reserved[7];
} gyre_cuda_orders;

/**
 * How workers share a queue. A worker that raises `next` with a compare-and-swap owns the requests between the old and
 * the new value. It may raise `next` up to `ready`, or to the end of the requests that it saw itself. The claims are
 * in shared memory while one block serves the queue, otherwise in device memory.
 */
typedef struct gyre_cuda_claims {
    gyre_u64 next;  /* the first index that no worker took */
    gyre_u64 ready; /* requests below it were seen in the queue; may be less than `next` */
    /* for each of the two phases, 1: a worker polls the queue across the bus (cuda_seek.h) */
    gyre_u32 pollers[2];
    gyre_u64 limit; /* with replies back to back: the replies to requests below it have room */
} gyre_cuda_claims;

/** Where the device is in one queue: a line of device memory for each entry of the queue table. */
typedef struct gyre_cuda_cursor {
    gyre_u64 serial; /* the serial of the table entry that the other words belong to */
    gyre_cuda_claims claims;
    /* for replies stored back to back: the position of the next reply, the number of requests whose replies have
     * their positions, and the position below which bytes are free again */
    gyre_u64 head, settled, tail;
} gyre_cuda_cursor;

/** A row of the queue table, with a word of its queue's region, as block 0 copied it. */
typedef struct gyre_cuda_relayed {
    gyre_control_queue row;
    gyre_u64 drop_before;
    gyre_u64 reserved[7];
} gyre_cuda_relayed;

/** A run of messages that the blocks of a keyed actor handle together (cuda_keyed.h). Block 0 writes it, in device memory. */
typedef struct gyre_cuda_keyed_post {
    gyre_u64 serial; /* stored last; of runs, counted from 1 */
    gyre_u64 first, drop_before;
    gyre_u32 count, which; /* as in the worker of block 0 */
    gyre_u32 from, entry;  /* of a stage: as in its gyre_link_run_ */
    gyre_u64 reserved[3];
} gyre_cuda_keyed_post;

/**
 * The words that block 0 read from the host, in device memory for all blocks. If 132 blocks read one line of the host,
 * they wait for each other, a microsecond each.
 */
typedef struct gyre_cuda_relay {
    gyre_u64 order; /* stored last; never decreases */
    gyre_u64 command;
    gyre_u64 live; /* a bit for each row that holds a queue */
    gyre_u64
        links; /* of a keyed actor that can be a stage: the table of links, which its blocks take up together */
    gyre_u64 reserved[4];
    gyre_cuda_keyed_post post;
    gyre_cuda_relayed rows[GYRE_QUEUES_MAX];
} gyre_cuda_relay;

#define GYRE_CUDA_TURNS 16 /* most workers of a block, or warps that poll */

/**
 * The runs (batches of messages) that a block's workers are at, for the host to copy: a line of device memory for each
 * block. Each worker has a number that differs from its previous run's number; 0: it is at no run.
 */
typedef struct gyre_cuda_turns {
    gyre_u32 of[GYRE_CUDA_TURNS];
} gyre_cuda_turns;

typedef struct gyre_cuda_arguments {
    gyre_control_region *control;
    const gyre_cuda_orders *orders;
    gyre_cuda_cursor *cursors; /* GYRE_QUEUES_MAX */
    gyre_cuda_relay *relay;
    /*
     * one word for each block, in device memory: the order that the block took up; the low bit is set once the block
     * has read all that the relay holds of this order. Behind them, for keyed actors, as many words with the serial of the
     * run that the block handled last, and as many with the order for which the block takes routed messages.
     */
    gyre_u64 *arrived;
    gyre_cuda_turns *turns; /* one for each block */
    gyre_u64 order;         /* this launch's first order; older orders belong to an earlier launch */
    gyre_u8 *stage;         /* GYRE_CUDA_STAGE_SIZE for each block */
    void *state;
    gyre_device_log *log;
    gyre_u32 pause_ns; /* the pause between two polls of an idle block; 0: none */
    gyre_u32 reserved;
    gyre_device_binding bindings[GYRE_BINDINGS_MAX];
} gyre_cuda_arguments;

#endif
