/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a resident CUDA kernel and its backend tell each other. One text for host C and CUDA C++ (NVRTC);
 * kernel authors never need it. The entry of kernel NAME is `gyre_resident_NAME(gyre_resident_arguments)`.
 *
 * The device watches one word of mapped host memory, `orders->order`, not the core's control word: the
 * backend bumps it whenever the core changed the control region, and also when it wants all kernels of the
 * context out of the way for a moment (GYRE_ORDER_LEAVE: loading, unloading and unregistering block while a
 * kernel is resident). A kernel that leaves keeps the position of each queue in `cursors`, so that its next
 * launch goes on where it was.
 *
 * Stability: private to the pair; both sides compare GYRE_DEVICE_MODULE_VERSION.
 */
#ifndef GYRE_DIALECT_CUDA_MODULE_H
#define GYRE_DIALECT_CUDA_MODULE_H

#include "gyre/dialect/device_module.h"

#define GYRE_CUDA_LANES_MAX  512        /* of lane kernels: registers for many loads in flight */
#define GYRE_CUDA_LOADS      8          /* 16-byte loads in flight of each thread */
#define GYRE_ACTOR_WINDOW    32         /* messages of an actor that are fetched together */
#define GYRE_ORDER_LEAVE     1ull       /* the low bit of an order: leave, and acknowledge nothing */
#define GYRE_CUDA_STAGE_SIZE (1u << 20) /* bytes of device memory a block has for messages beyond a line */

/** One line of mapped host memory, written by the backend. */
typedef struct gyre_cuda_orders {
    gyre_u64 order;
    gyre_u64 reserved[7];
} gyre_cuda_orders;

/**
 * Where the device is in one queue; one line of device memory an entry of the queue table. In a queue of one
 * block only `next` is used. Where several blocks share a queue, its first block looks for requests and
 * raises `ready`, and all claim what lies below it by raising `next`.
 */
typedef struct gyre_cuda_cursor {
    gyre_u64 serial; /* of the table entry that the rest belongs to */
    gyre_u64 next;   /* first index that nobody took */
    gyre_u64 ready;  /* first index that was not seen to be there */
    gyre_u32 poller; /* 1: one of the blocks is looking for requests */
    gyre_u32 padding;
    gyre_u64 reserved[4];
} gyre_cuda_cursor;

typedef struct gyre_resident_arguments {
    gyre_control_region *control;
    const gyre_cuda_orders *orders;
    gyre_cuda_cursor *cursors; /* GYRE_QUEUES_MAX */
    gyre_u64 *arrived; /* one for each block, in device memory: the order it took up; all ones once it left */
    gyre_u8 *stage;    /* GYRE_CUDA_STAGE_SIZE for each block */
    void *state;
    gyre_device_log *log;
    gyre_u32 pause_ns; /* between two polls of an idle block, 0: none */
    gyre_u32 reserved;
    gyre_device_binding bindings[GYRE_BINDINGS_MAX];
} gyre_resident_arguments;

#endif
