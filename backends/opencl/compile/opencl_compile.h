/* SPDX-License-Identifier: Apache-2.0 */
/* The operation that compiles a unit of kernels, and the building of OpenCL programs for others. */
#ifndef GYRE_OPENCL_COMPILE_H
#define GYRE_OPENCL_COMPILE_H

#include "backends/opencl/opencl_backend.h"

gyre_status opencl_compile(gyre_device *device, const gyre_compile_desc *desc);
/** The kind of lanes that a program is compiled for, on a device where that makes a difference (solo). */
enum opencl_lanes {
    OPENCL_LANES_ALONE, /* lane kernels, actors, blocks of one lane */
    OPENCL_LANES_MEET   /* block kernels */
};
/** A program to build. */
struct opencl_build_desc {
    cl_program program;
    enum opencl_lanes lanes;
    const char *source;  /* the program's text; the compiler's errors name its lines */
    const char *options; /* the user's options */
    char *messages;      /* receives the compiler's words, cut; may be NULL */
    size_t messages_size;
};

/** Builds the program with the device's options, the options for its lanes and, last, the user's options. */
cl_int opencl_build_program(const gyre_device *device, cl_program program, enum opencl_lanes lanes,
                            const char *options);
/** Builds a program as opencl_build_program does. FAILED with the compiler's first error. */
gyre_status opencl_build(gyre_device *device, const struct opencl_build_desc *desc);

#endif
