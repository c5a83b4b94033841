/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel file compiled for a GPU or an OpenCL device and its backend tell each other: the arguments of
 * a batch, the log, the records. One text for host C, CUDA C++ and OpenCL C; kernel authors never need it.
 *
 * The batch entry of kernel NAME is `gyre_batch_NAME`, with the parameters
 *
 *     const gyre_batch *batch, const u8 *requests, u8 *replies, void *state,
 *     const gyre_device_binding *bindings, gyre_device_log *log, gyre_device_block *blocks
 *
 * `requests` and `replies` are slot 0 of a queue as in ring_layout.h. The entry completes the requests
 * [first, first + count) that are there. Any number of lanes and blocks will do; an actor runs in lane 0 of
 * block 0. On OpenCL, GYRE_BINDINGS_MAX pointers to the bound buffers follow, as addresses may not be stored
 * in memory there; unused ones take any buffer. On CUDA, block kernels get their scratch as dynamic shared
 * memory.
 *
 * Stability: private to the pair; both sides compare GYRE_DEVICE_MODULE_VERSION.
 */
#ifndef GYRE_DIALECT_DEVICE_MODULE_H
#define GYRE_DIALECT_DEVICE_MODULE_H

#include "gyre/ring_layout.h"
#include "gyre/types.h"

#define GYRE_DEVICE_MODULE_VERSION 2
#define GYRE_BINDINGS_MAX          8

typedef struct gyre_batch {
    gyre_u64 first;       /* index of the first request */
    gyre_u64 mask;        /* capacity - 1 */
    gyre_u64 drop_before; /* requests below are completed as DROPPED */
    gyre_u64 time_ns;     /* what gyre_time_ns says on devices without a clock */
    gyre_u32 count;       /* requests */
    gyre_u32 request_stride, reply_stride;
    gyre_u32 reserved;
} gyre_batch;

/** A bound buffer. `address` is 0 on OpenCL. */
typedef struct gyre_device_binding {
    gyre_u64 address;
    gyre_u64 count; /* elements */
} gyre_device_binding;

/** One line of the log. */
typedef struct gyre_device_log_line {
    gyre_i64 value;
    gyre_u32 block;
    gyre_u32 written; /* the number of the line, counted from 1, stored last */
    char text[48];    /* NUL-terminated, cut */
} gyre_device_log_line;

/** Zeroed but for `capacity` by the host; followed by the lines, a ring: the newest replace the oldest. */
typedef struct gyre_device_log {
    gyre_u32 capacity;
    gyre_u32 next; /* lines ever asked for */
    gyre_u32 reserved[14];
} gyre_device_log;

/** One line a block: what the entry added to it. */
typedef struct gyre_device_block {
    gyre_u32 handled; /* messages completed */
    gyre_u32 failed;  /* of these, failed by the handler */
    gyre_u32 reserved[14];
} gyre_device_block;

/** What the device compiler saw: the constant gyre_kernel_NAME, on OpenCL an item of that name
 * (opencl_module.h). Texts of messages and buffers are in gyre_text_<type>, gyre_buffers_text_<name>. */
typedef struct gyre_device_kernel {
    gyre_u32 version;
    gyre_u32 form;                                               /* gyre_form */
    gyre_u64 request_size, reply_size, state_size, scratch_size; /* 0: gyre_none */
    gyre_u64 line;
    char name[64], request[64], reply[64], state[64], buffers[64];
} gyre_device_kernel;

#if defined(GYRE_DIALECT_C) && !defined(__cplusplus)
_Static_assert(sizeof(gyre_batch) == 48 && sizeof(gyre_device_log_line) == 64, "layout");
_Static_assert(sizeof(gyre_device_log) == 64 && sizeof(gyre_device_block) == 64, "one line each");
_Static_assert(sizeof(gyre_device_kernel) == 48 + 5 * 64, "layout");
#endif

#endif
