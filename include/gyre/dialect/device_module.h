/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between a backend and a kernel file compiled for a GPU or an OpenCL device, as far as it is the same
 * for both: the log, and the records that describe kernels. Host C, CUDA C++ and OpenCL C share this text; kernel
 * authors never need it. cuda_module.h and opencl_module.h have the other declarations.
 *
 * Stability: private to the pair; both sides compare GYRE_DEVICE_MODULE_VERSION.
 */
#ifndef GYRE_DIALECT_DEVICE_MODULE_H
#define GYRE_DIALECT_DEVICE_MODULE_H

#include "gyre/ring_layout.h"
#include "gyre/types.h"

#define GYRE_DEVICE_MODULE_VERSION 2
#define GYRE_BINDINGS_MAX          8

/** A bound buffer. `address` is 0 on OpenCL. */
typedef struct gyre_device_binding {
    gyre_u64 address;
    gyre_u64 count; /* elements */
} gyre_device_binding;

/** One line of the log. */
typedef struct gyre_device_log_line {
    gyre_i64 value;
    gyre_u32 block;
    gyre_u32 written; /* the line's number, counted from 1; stored last */
    char text[48];    /* NUL-terminated, cut */
} gyre_device_log_line;

/**
 * The head of the log. The host zeroes it, except `capacity`. The lines follow, as a ring: the newest lines replace
 * the oldest.
 */
typedef struct gyre_device_log {
    gyre_u32 capacity;
    gyre_u32 next; /* how many lines handlers have logged so far */
    gyre_u32 reserved[14];
} gyre_device_log;

/*
 * Which of the words `reserved` says how many bytes behind the log a gyre_control_times lies, for devices that count there
 * themselves; 0: they do not count.
 */
#define GYRE_LOG_TIMES_WORD 1

/**
 * A kernel as the device compiler saw it: the constant gyre_kernel_NAME; on OpenCL an item with that name
 * (opencl_module.h). The texts of messages and buffers are in gyre_text_<type> and gyre_buffers_text_<name>.
 */
typedef struct gyre_device_kernel {
    gyre_u32 version;
    gyre_u32 form;                                               /* gyre_form */
    gyre_u64 request_size, reply_size, state_size, scratch_size; /* 0: gyre_none */
    gyre_u64 line;
    char name[64], request[64], reply[64], state[64], buffers[64];
} gyre_device_kernel;

#if defined(GYRE_DIALECT_C) && !defined(__cplusplus)
_Static_assert(sizeof(gyre_device_log) == 64 && sizeof(gyre_device_log_line) == 64, "one line each");
_Static_assert(sizeof(gyre_device_kernel) == 48 + 5 * 64, "layout");
#endif

#endif
